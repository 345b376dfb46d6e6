"""What a route makes of the stages of a task plugin and of those who wrap it."""

import asyncio
import gc

import pytest

from raas_sdk import EmptyWorkspace, Failure, Instance, Job, Outcome, PluginFault, Result, Reward, Stage, Trajectory
from raas_sdk import hookimpl as impl

LOST = Failure(stage="run", kind="task", code="lost", message="lost")
JOB = Job("j1", Instance.parse({"data_source": "task"}))
RESULT = Result("j1", "i", "d", "task", Outcome.SCORED, True, None)


def run(route):
    return route.run(JOB, None, EmptyWorkspace(), None)


def wrapper(name, log, *, before=None, after=None, answer=None, awaits=True):
    """A wrapper of raas_run that notes when it is called and when the stage's answer passes it."""

    class Wrapper:
        @impl(wrapper=True)
        def raas_run(self, job):
            log.append(name)
            if before is not None:
                raise before
            inner = yield
            if after is not None:
                raise after
            return self.around(inner) if awaits else answer

        async def around(self, inner):
            given = await inner if answer is None else answer
            log.append(f"{name} {given}")
            return f"{name}({given})"

    return Wrapper()


async def test_a_stage_gets_the_arguments_it_asks_for(load, task):
    async def raas_run(self, policy, job):
        return [job.job_id, policy]

    assert await run(load(task=task(raas_run=impl(raas_run))).route("task")) == ["j1", None]


async def test_without_an_init_of_its_own_a_task_gets_an_empty_workspace(load, task):
    workspace = await load(task=task()).route("task").init(JOB, None)
    assert isinstance(workspace, EmptyWorkspace) and workspace.tools == ()
    assert (await workspace.call("bash", {}, timeout=1)).error


async def test_an_init_that_forgets_async_does_not_silently_get_the_default(load, task):
    route = load(task=task(raas_init=impl(lambda self: None))).route("task")
    with pytest.raises(PluginFault, match="write it as 'async def'"):
        await route.init(JOB, None)


@pytest.mark.parametrize("stage", ["raas_init", "raas_run", "raas_eval"])
async def test_a_stage_that_is_not_async_is_refused_clearly(load, task, stage):
    route = load(task=task(**{stage: impl(lambda self: {"a": 1})})).route("task")
    calls = {
        "raas_init": route.init(JOB, None),
        "raas_run": run(route),
        "raas_eval": route.eval(JOB, None, Trajectory()),
    }
    with pytest.raises(PluginFault, match=f"{stage} of plugin 'task' returned dict .*'async def'"):
        await calls.pop(stage)
    for other in calls.values():
        other.close()


class Loop(dict):
    def __repr__(self):
        raise RuntimeError("no repr")


def cycle():
    value = []
    value.append(value)
    return value


async def nothing():
    return None


@pytest.mark.parametrize(
    "make",
    [
        set,
        object,
        bytes,
        cycle,
        nothing,
        lambda: float("nan"),
        lambda: {"a": {1: {2}}},
        lambda: "\ud800",
        lambda: Loop(x=b""),
    ],
    ids=["set", "object", "bytes", "cycle", "coroutine", "nan", "nested", "surrogate", "repr"],
)
async def test_a_submission_that_is_no_plain_data_is_the_plugins_fault(load, task, make):
    async def raas_run(self):
        return make()

    with pytest.raises(PluginFault, match="raas_run of plugin 'task' returned") as caught:
        await run(load(task=task(raas_run=impl(raas_run))).route("task"))
    assert caught.value.code == "bad_return" and len(str(caught.value)) < 1000


@pytest.mark.parametrize("given", [None, 1.0, {"reward": 1}, True, Reward])
async def test_eval_must_give_a_reward(load, task, given):
    async def raas_eval(self):
        return given

    with pytest.raises(PluginFault, match="not a Reward"):
        await load(task=task(raas_eval=impl(raas_eval))).route("task").eval(JOB, None, Trajectory())


@pytest.mark.parametrize("given", [None, "/tmp", object()])
async def test_init_must_give_a_workspace(load, task, given):
    async def raas_init(self):
        return given

    with pytest.raises(PluginFault, match="not a Workspace"):
        await load(task=task(raas_init=impl(raas_init))).route("task").init(JOB, None)


async def test_a_handler_class_serves_like_a_module_of_hooks(load, handler):
    plugins = load(old=handler)
    route = plugins.route("handled")
    assert await run(route) == {"workspace": "none"}
    assert (await route.eval(JOB, None, Trajectory())).value == 0.5
    assert route.on_exception(Stage.RUN, JOB, ValueError("x"), Trajectory(), failure=LOST) is None
    assert route.final_result(JOB, RESULT) is None


async def test_a_handlers_own_methods_decide(load, handler):
    class Deciding(handler):
        def run_exception(self, job, error, trajectory):
            return Reward(0.0) if isinstance(error, ValueError) else Failure("run", "infra", "lost", str(error))

    route = load(old=Deciding()).route("handled")
    assert route.on_exception(Stage.RUN, JOB, ValueError("x"), Trajectory(), failure=LOST) == Reward(0.0)
    assert route.on_exception(Stage.RUN, JOB, OSError("y"), Trajectory(), failure=LOST).code == "lost"


@pytest.mark.parametrize(
    ("wanted", "order"),
    [((), ["a", "b", "c"]), (("c", "a", "b"), ["c", "a", "b"]), (("b",), ["b", "a", "c"])],
)
async def test_wrappers_run_in_the_order_of_the_settings_and_else_by_name(load, task, wanted, order):
    log = []
    wrappers = {name: wrapper(name, log) for name in "bca"}
    route = load({"wrappers": wanted}, task=task(), **wrappers).route("task")
    one, two, three = order
    assert await run(route) == f"{one}({two}({three}(done)))"
    assert log[:3] == order


@pytest.mark.parametrize(
    "options",
    [
        {"before": ValueError("mine")},
        {"after": ValueError("mine")},
    ],
    ids=["before", "after"],
)
async def test_a_wrapper_that_raises_fails_the_stage_and_leaves_no_coroutine(load, task, options):
    route = load(task=task(), odd=wrapper("odd", [], **options)).route("task")
    with pytest.raises(ValueError, match="mine"):
        await run(route)
    gc.collect()


@pytest.mark.parametrize("options", [{"answer": "cached"}], ids=["answers"])
async def test_a_wrapper_may_answer_itself(load, task, options):
    called = []

    async def raas_run(self):
        called.append(1)
        return "done"

    route = load(task=task(raas_run=impl(raas_run)), cache=wrapper("cache", [], **options)).route("task")
    assert await run(route) == "cache(cached)"
    gc.collect()
    assert not called


async def test_a_wrapper_that_answers_without_awaiting_is_refused_clearly(load, task):
    route = load(task=task(), odd=wrapper("odd", [], awaits=False, answer={"a": 1})).route("task")
    with pytest.raises(PluginFault, match="async def"):
        await run(route)
    gc.collect()


async def test_a_tasks_own_wrapper_touches_its_own_routes_only(load, task):
    class Wrapped(type(task("own"))):
        sources = ("own",)

        @impl
        async def raas_run(self):
            return "plain"

        @impl(wrapper=True, trylast=True, specname="raas_run")
        def around_run(self, job):
            inner = yield
            return self.shout(inner)

        async def shout(self, inner):
            return f"{await inner}!"

    plugins = load(own=Wrapped(), other=task("other"))
    assert await run(plugins.route("own")) == "plain!"
    assert await run(plugins.route("other")) == "done"


async def test_a_tasks_own_innermost_wrapper_that_answers_itself_leaves_no_coroutine(load, task):
    class Wrapped(type(task())):
        @impl
        async def raas_run(self):
            return "never"

        @impl(wrapper=True, trylast=True, specname="raas_run")
        def around_run(self):
            yield
            return self.instead()

        async def instead(self):
            return "instead"

    assert await run(load(own=Wrapped()).route("task")) == "instead"
    gc.collect()


async def test_one_plugins_stage_is_never_called_for_anothers_source(load, task):
    async def wrong(self):
        raise AssertionError("called for another plugin's source")

    plugins = load(one=task("one"), other=task("other", raas_init=impl(wrong), raas_run=impl(wrong)))
    assert await run(plugins.route("one")) == "done"
    assert isinstance(await plugins.route("one").init(JOB, None), EmptyWorkspace)


@pytest.mark.parametrize("given", [1.0, "ok", {"a": 1}, [Reward(1.0)]])
def test_a_decision_of_another_kind_is_the_plugins_fault(load, task, given):
    route = load(task=task(raas_run_exception=impl(lambda self: given))).route("task")
    with pytest.raises(PluginFault, match="a Reward, a Failure or None"):
        route.on_exception(Stage.RUN, JOB, ValueError("x"), Trajectory(), failure=LOST)


@pytest.mark.parametrize(
    "given",
    [Reward(7.0), Failure("run", "cosmic", "c", "m"), Failure("run", "task", "c", 17), Failure(None, "task", "c", "m")],
)
def test_a_decision_must_be_whole(load, task, given):
    route = load(task=task(raas_init_exception=impl(lambda self: given))).route("task")
    with pytest.raises(PluginFault):
        route.on_exception(Stage.INIT, JOB, ValueError("x"), Trajectory(), failure=LOST)


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), BaseException("odd")]
)
@pytest.mark.parametrize("hook", ["raas_eval_exception", "raas_final_result"])
def test_a_decision_hook_cannot_tear_down_the_engine(load, task, hook, error):
    def decide(self):
        raise error

    route = load(task=task(**{hook: impl(decide)})).route("task")
    with pytest.raises(PluginFault) as caught:
        if hook == "raas_final_result":
            route.final_result(JOB, RESULT)
        else:
            route.on_exception(Stage.EVAL, JOB, ValueError("x"), Trajectory(), failure=LOST)
    assert caught.value.__cause__ is error and type(error).__name__ in str(caught.value)


def test_a_wrapper_may_change_a_decision(load, task):
    class Shaper:
        @impl(wrapper=True)
        def raas_run_exception(self, error):
            decision = yield
            return decision or Reward(0.25)

    route = load(task=task(), shaper=Shaper()).route("task")
    assert route.on_exception(Stage.RUN, JOB, ValueError("x"), Trajectory(), failure=LOST) == Reward(0.25)
