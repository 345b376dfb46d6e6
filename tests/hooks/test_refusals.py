"""Every plugin that must not be let in, and what its report says."""

import pydantic
import pytest

from raas_sdk import Reward, TaskHandler, hookimpl
from raas_sdk.errors import PluginRefused
from raas_sdk.hooks.hookspecs import hookspec  # noqa: F401 - imported names are no plugin's own


def impl(function, **options):
    return hookimpl(**options)(function) if options else hookimpl(function)


def test_an_unknown_hook_is_refused_with_the_closest_one(task, fault_of):
    reason = fault_of(task(raas_evaluate=impl(lambda self: None)))
    assert "'odd'" in reason and "'raas_evaluate'" in reason and "did you mean 'raas_eval'?" in reason


def test_an_argument_that_the_hook_does_not_have_is_refused_by_name(task, fault_of):
    reason = fault_of(task(raas_final_result=impl(lambda self, job, answer: None)))
    assert "answer" in reason and "raas_final_result" in reason


def test_an_object_without_hooks_is_refused(fault_of):
    assert "implements no hook" in fault_of(object())


def test_a_function_with_a_hooks_name_but_no_mark_is_refused(task, fault_of):
    assert "'raas_run_exception' without its mark" in fault_of(task(raas_run_exception=lambda self, job: None))


@pytest.mark.parametrize("missing", ["raas_run", "raas_eval"])
def test_a_task_plugin_needs_run_and_eval(task, fault_of, missing):
    reason = fault_of(task("a", "b", **{missing: None}))
    assert f"has no {missing}" in reason and "['a', 'b']" in reason


def test_a_stage_without_data_sources_is_no_wrapper_and_no_task(task, fault_of):
    reason = fault_of(task(raas_data_sources=None))
    assert "raas_eval" in reason or "raas_run" in reason
    assert "declares no data sources" in reason and "wrapper=True" in reason


@pytest.mark.parametrize("answer", ["math", 17, [], [""], ["a", 3], ["a[bc]"], [None], {}])
def test_data_sources_must_be_a_list_of_names(task, fault_of, answer):
    assert "'odd'" in fault_of(task(raas_data_sources=impl(lambda self: answer)))


def test_a_plugin_whose_data_sources_raise_is_broken_alone(task, load):
    def sources(self):
        raise OSError("no list")

    plugins = load(bad=task(raas_data_sources=impl(sources)), good=task("fine"))
    assert {r.name: (r.kind, r.error) for r in plugins.reports} == {
        "bad": ("broken", "OSError: no list"),
        "good": ("task", None),
    }
    assert plugins.route("fine").plugin == "good"


@pytest.mark.parametrize("hook", ["raas_data_sources", "raas_settings", "raas_final_result", "raas_job_started"])
def test_a_hook_that_is_not_awaited_must_not_be_async(task, fault_of, hook):
    async def wrong(self):
        return ["a"]

    reason = fault_of(task(**{hook: impl(wrong)}))
    assert hook in reason and "'def'" in reason


def test_an_announcement_cannot_be_wrapped(task, fault_of):
    def wrapped(self):
        yield

    assert "raas_job_finished cannot be wrapped" in fault_of(task(raas_job_finished=impl(wrapped, wrapper=True)))


def test_a_handler_without_eval_cannot_be_made(fault_of):
    class Half(TaskHandler):
        data_sources = ("half",)

        async def run(self, job, host, workspace, policy): ...

    assert "eval" in fault_of(Half)


class Wanted(pydantic.BaseModel):
    depth: int
    label: str = "x"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "[plugins.odd] depth: Field required"),
        ({"depth": "deep"}, "[plugins.odd] depth: Input should be a valid integer"),
    ],
)
def test_settings_that_do_not_fit_are_refused_by_key(task, fault_of, values, said):
    assert said in fault_of(task(raas_settings=impl(lambda self: Wanted)), plugins={"odd": values})


def test_settings_for_a_plugin_that_takes_none_are_refused(task, fault_of):
    assert "takes no settings" in fault_of(task(), plugins={"odd": {"depth": 1}})


@pytest.mark.parametrize("model", [dict, Wanted(depth=1), "Wanted"])
def test_raas_settings_must_give_a_model(task, fault_of, model):
    assert "pydantic model class" in fault_of(task(raas_settings=impl(lambda self: model)))


def test_a_settings_section_of_no_plugin_is_reported_with_the_closest_name(task, load):
    plugins = load({"plugins": {"maths": {"a": 1}}}, math=task())
    (stray,) = [report for report in plugins.reports if report.kind == "broken"]
    assert stray.name == "maths" and "[plugins.math]" in stray.error
    with pytest.raises(PluginRefused, match="maths"):
        load({"plugins": {"maths": {"a": 1}}, "strict": True}, math=task())


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("1 / 0", "ZeroDivisionError"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "implements no hook"),
    ],
)
def test_a_plugin_that_fails_to_import_is_broken_alone_and_strict_refuses_the_start(
    settings_of, as_plugin, task, tmp_path, source, said
):
    from raas_sdk.hooks import load_plugins

    path = tmp_path / "sick.py"
    path.write_text(source)
    flags = {"plugin": (str(path), as_plugin(task("fine"), "good"))}
    plugins = load_plugins(settings_of(**flags))
    assert {report.name: report.kind for report in plugins.reports} == {"sick": "broken", "good": "task"}
    assert said in next(report.error for report in plugins.reports if report.name == "sick")
    with pytest.raises(PluginRefused, match="'sick'"):
        load_plugins(settings_of(**flags, strict=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no/such/place.py", "no plugin file"),
        ("no/such/folder", "no plugin file"),
        ("raas_sdk.reward:Nothing", "has no 'Nothing'"),
        ("not_installed_anywhere", "ModuleNotFoundError"),
    ],
)
def test_a_plugin_that_is_not_there_is_reported(settings_of, text, said):
    from raas_sdk.hooks import load_plugins

    (report,) = load_plugins(settings_of(plugin=(text,))).reports
    assert report.kind == "broken" and said in report.error


def test_a_file_with_a_handler_says_how_to_name_it(settings_of, tmp_path):
    from raas_sdk.hooks import load_plugins

    path = tmp_path / "domain.py"
    path.write_text(HANDLER_FILE)
    (report,) = load_plugins(settings_of(plugin=(str(path),))).reports
    assert report.kind == "broken" and ":Domain" in report.error
    (report,) = load_plugins(settings_of(plugin=(f"{path}:Domain",))).reports
    assert (report.name, report.kind, report.data_sources) == ("Domain", "task", ("domain",))


HANDLER_FILE = """
from raas_sdk import Reward, TaskHandler

class Domain(TaskHandler):
    data_sources = ("domain",)
    async def run(self, job, host, workspace, policy): return 1
    async def eval(self, job, host, trajectory): return Reward(1.0)
"""


def test_two_plugins_of_one_name_are_refused_and_both_are_named(settings_of, as_plugin, task):
    from raas_sdk.hooks import load_plugins

    one, other = as_plugin(task("a"), "twin"), as_plugin(task("b"), "twin")
    with pytest.raises(PluginRefused) as caught:
        load_plugins(settings_of(plugin=(one, other)))
    modules = [place.split(":")[0] for place in (one, other)]
    assert "'twin'" in str(caught.value) and all(module in str(caught.value) for module in modules)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("math", "math"),
        ("deep_*", "deep_*"),
        ("deep_*", "*_coder"),
        ("deep_?x", "deep_a*"),
        ("*", "a*"),
    ],
)
def test_two_plugins_for_one_source_are_refused_and_both_are_named(load, task, one, other):
    with pytest.raises(PluginRefused, match=r"'first'.*'second'|'second'.*'first'"):
        load(first=task(one), second=task(other))


def test_an_alias_of_an_unknown_plugin_is_refused(load, task):
    with pytest.raises(PluginRefused, match=r"'openai/gsm8k' = 'maths'.*\['math'\]"):
        load({"routes": {"openai/gsm8k": "maths"}}, math=task("a"))


def test_an_alias_is_one_exact_name(load, task):
    with pytest.raises(PluginRefused, match=r"openai/\*"):
        load({"routes": {"openai/*": "math"}}, math=task("a"))


def test_an_unknown_wrapper_in_the_order_is_refused(load, task):
    with pytest.raises(PluginRefused, match="'tracing'"):
        load({"wrappers": ("tracing",)}, math=task())


def test_a_plain_class_is_made_into_an_instance(load):
    class Plain:
        @hookimpl
        def raas_data_sources(self):
            return ["plain"]

        @hookimpl
        async def raas_run(self): ...

        @hookimpl
        async def raas_eval(self):
            return Reward(1.0)

    assert load(plain=Plain).route("plain").plugin == "plain"


def test_a_hook_is_implemented_once(task, fault_of):
    async def other(self): ...

    assert "implements raas_run twice" in fault_of(task(run_again=impl(other, specname="raas_run")))
