"""What the source never does, whoever writes it."""

import ast
import re
import tokenize

# Rooms that may read the environment: the service has one; sandboxes hand theirs on to what they start.
ENVIRONMENT_READERS = {
    "raas_sdk.settings",
    "raas_runtime.tools.ipython.zygote",
    # It looks whether a plugin has changed it.
    "raas_sdk.testing.conformance.leftovers",
}

# Where a moment of the calendar is meant, never a duration.
CALENDAR_READERS = {"raas_sdk.backends.exchange", "raas_sdk.gateway.job_record", "raas_sdk.tokens.chat_template"}

# Programs, whose output is for the one who started them; and a kernel, whose error stream is what its cell shows.
PRINTERS = ("raas_sdk.cli", "raas_sdk.testing.fake_backend", "raas_runtime.tools.ipython.worker")

PROMISES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SWITCHED_OFF = re.compile(r"#\s*(noqa|type:\s*ignore)(?P<which>\S*)\s*(?P<reason>.*)")


def test_no_handler_catches_everything(modules, refuse):
    refuse(
        f"{module.at(node)}: catches everything, a cancel too; catch Exception, and only at a boundary"
        for module in modules
        for node in module.walk(ast.ExceptHandler)
        if node.type is None or "BaseException" in _names(node.type)
    )


def test_nothing_is_swallowed(modules, refuse):
    refuse(
        f"{module.at(node)}: suppresses every error; name the ones that are expected"
        for module in modules
        for node in _calls(module)
        if _called(node).endswith("suppress") and {"Exception", "BaseException"} & _names(node)
    )


def test_nobody_sleeps_where_an_event_could_be_awaited(modules, refuse):
    refuse(
        f"{module.at(node)}: time.sleep blocks whoever calls it; wait for an event"
        for module in modules
        for node in _calls(module)
        if _called(node) == "time.sleep"
    )


def test_durations_are_measured_on_the_monotonic_clock(modules, refuse):
    refuse(
        f"{module.at(node)}: {ast.unparse(node)} jumps with the machine's clock; use time.monotonic for durations"
        for module in modules
        if module.name not in CALENDAR_READERS
        for node in module.walk(ast.Attribute)
        if ast.unparse(node) in ("time.time", "datetime.now", "datetime.datetime.now", "datetime.utcnow")
    )


def test_only_settings_read_the_environment(modules, refuse):
    refuse(
        f"{module.at(node)}: {ast.unparse(node)} is read in settings alone"
        for module in modules
        if module.name not in ENVIRONMENT_READERS
        for node in module.walk(ast.Attribute)
        if ast.unparse(node) in ("os.environ", "os.getenv", "os.environb", "os.putenv")
    )


def test_only_the_command_line_prints(modules, refuse):
    refuse(
        f"{module.at(node)}: {_called(node)} in a library; return it, or log an event with fields"
        for module in modules
        if not module.name.startswith(PRINTERS)
        for node in _calls(module)
        if _called(node) in ("print", "sys.stdout.write", "sys.stderr.write", "logging.basicConfig")
    )


def test_nothing_is_promised_for_later(modules, refuse):
    faults = [
        f"{module.at(line)}: {word} is a promise; do it or leave it out"
        for module in modules
        for line, comment in _comments(module)
        for word in PROMISES.findall(comment)
    ]
    faults += [
        f"{module.at(node)}: NotImplementedError is a stub"
        for module in modules
        for node in module.walk(ast.Raise)
        if node.exc is not None and "NotImplementedError" in _names(node.exc)
    ]
    refuse(faults)


def test_a_rule_is_switched_off_by_name(modules, refuse):
    """Ruff's with a reason beside it; mypy's code is reason enough."""
    faults = []
    for module in modules:
        for line, comment in _comments(module):
            found = SWITCHED_OFF.search(comment)
            if found is None:
                continue
            bare = found["which"] in ("", ":") and not re.match(r"[A-Z]+[0-9]+", found["reason"])
            reasonless = found[1] == "noqa" and not re.sub(r"^[A-Z0-9, ]+", "", found["reason"])
            if bare or reasonless:
                faults.append(f"{module.at(line)}: {comment.strip()!r} needs the rule's code and a reason")
    refuse(faults)


def test_nothing_is_ended_by_its_name(modules, refuse):
    refuse(
        f"{module.at(node)}: {node.value!r} ends whatever has that name; keep the handle of what was started"
        for module in modules
        for node in module.walk(ast.Constant)
        if node.value in ("pkill", "killall", "pkill -f")
    )


def test_nothing_is_cleaned_up_by_the_collector(modules, refuse):
    refuse(
        f"{module.at(node)}: __del__ runs when it likes; take with `with` what must be given back"
        for module in modules
        for node in module.walk(ast.FunctionDef)
        if node.name == "__del__"
    )


def test_no_function_rebinds_a_global(modules, refuse):
    refuse(
        f"{module.at(node)}: global state; hand it on as a value"
        for module in modules
        for node in module.walk(ast.Global)
    )


def _calls(module):
    return module.walk(ast.Call)


def _called(node):
    return ast.unparse(node.func)


def _names(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _comments(module):
    with tokenize.open(module.path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
