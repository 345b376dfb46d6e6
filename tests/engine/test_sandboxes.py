"""Sandboxes belong to a job and a stage: opened through the host, closed for the plugin on every path."""

import asyncio

import pytest

from raas_sdk import PluginFault, Reward, WorkspaceFault
from raas_sdk.engine.runtimes import RuntimeChooser


async def init(self, host):
    return await host.open_workspace(tools=["bash"])


def raising(error):
    async def stage(self):
        raise error

    return stage


async def test_the_sandbox_is_closed_before_eval(service, task, runtime):
    seen = []

    async def evaluate(self):
        seen.append(set(runtime.open))
        return Reward(1.0)

    async with service(task(init=init, eval=evaluate)) as s:
        result = await s.result()
        assert result.outcome == "scored" and seen == [set()]
        assert result.sandbox == {"runtime": "fake", "level": "none"}


@pytest.mark.parametrize("hooks", [{"run": raising(ValueError("x"))}, {"eval": raising(ValueError("x"))}])
async def test_the_sandbox_is_closed_when_a_stage_fails(service, task, runtime, hooks):
    async with service(task(init=init, **hooks)) as s:
        assert (await s.result()).outcome == "task_error"
        assert runtime.opened == 1 and not runtime.open


async def test_a_sandbox_is_closed_when_init_fails_after_opening_it(service, task, runtime):
    async def half(self, host):
        await host.open_workspace()
        await host.open_workspace()
        raise ValueError("tool set-up failed")

    async with service(task(init=half)) as s:
        results = await asyncio.gather(*(s.result() for _ in range(15)))
        assert {result.outcome for result in results} == {"task_error"}
        assert runtime.opened == 30 and not runtime.open


async def test_every_attempt_gets_a_fresh_sandbox(service, task, runtime):
    ids = []

    async def run(self, job, workspace):
        ids.append(workspace.id)
        assert len(runtime.open) == 1
        if job.attempt < 3:
            raise WorkspaceFault("lost")
        return 1

    async with service(task(init=init, run=run)) as s:
        assert (await s.result()).outcome == "scored"
        assert ids == ["w0", "w1", "w2"]


async def test_eval_opens_a_sandbox_of_its_own(service, task, runtime):
    async def evaluate(self, host):
        workspace = await host.open_workspace(tools=["bash"])
        seen = await workspace.call("bash", {"command": "test"}, timeout=1)
        return Reward(float(seen.text == "ok"))

    async with service(task(init=init, eval=evaluate)) as s:
        result = await s.result()
        assert (result.reward, runtime.opened) == (1.0, 2)


async def test_a_sandbox_that_cannot_be_opened_is_tried_again_and_then_an_infra_error(service, task, runtime):
    runtime.fail_open = WorkspaceFault("no room on this node")
    async with service(task(init=init)) as s:
        result = await s.result()
        assert (result.outcome, result.failure.stage, result.attempt) == ("infra_error", "init", 3)


async def test_a_sandbox_that_fails_to_close_costs_the_job_nothing_but_a_note(service, task, runtime):
    runtime.fail_close = OSError("device busy")
    async with service(task(init=init)) as s:
        result = await s.result()
        assert (result.outcome, result.reward) == ("scored", 1.0)
        assert "closing a sandbox failed: OSError: device busy" in result.extra["notes"]
        runtime.open.clear()


async def test_a_sandbox_whose_close_is_cancelled_costs_no_answer(service, task, runtime):
    runtime.fail_close = asyncio.CancelledError()
    async with service(task(init=init)) as s:
        result = await s.result()
        assert result.outcome == "scored" and "CancelledError" in result.extra["notes"][0]
        runtime.open.clear()


async def test_a_sandbox_that_never_closes_does_not_keep_its_job(service, task, runtime):
    async def never():
        await asyncio.Event().wait()

    runtime.fail_close = never
    async with service(task(init=init), close_seconds=0.02) as s:
        result = await s.result()
        assert result.outcome == "scored" and "left behind" in result.extra["notes"][0]
        runtime.open.clear()


async def test_notes_of_earlier_attempts_are_kept(service, task, runtime):
    async def run(self, job):
        if job.attempt == 1:
            runtime.fail_close = OSError("busy")
            raise WorkspaceFault("lost")
        runtime.fail_close = None
        return 1

    async with service(task(init=init, run=run)) as s:
        result = await s.result()
        assert any("busy" in note for note in result.extra["notes"])
        assert any("attempt 1: run/workspace_fault" in note for note in result.extra["notes"])
        runtime.open.clear()


async def test_a_sandbox_that_opens_after_its_stage_is_over_is_closed_at_once(service, task, runtime):
    opening, go, codes = asyncio.Event(), asyncio.Event(), []

    async def slow_open():
        opening.set()
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue

    async def stubborn(self, host):
        runtime.fail_open = slow_open
        try:
            return await host.open_workspace()
        except PluginFault as fault:
            codes.append(fault.code)
            raise

    async with service(task(init=stubborn), grace_seconds=0.02) as s:
        job = s.submit(limits={"init_seconds": 0.02})
        await opening.wait()
        assert (await job.done).outcome == "timeout"
        go.set()
        while not codes:
            await asyncio.sleep(0)
        assert codes == ["stage_over"] and runtime.opened == 1 and not runtime.open


async def test_tool_calls_are_counted(service, task, runtime):
    async def run(self, workspace):
        for _ in range(3):
            await workspace.call("bash", {}, timeout=1)
        return 1

    async with service(task(init=init, run=run)) as s:
        assert (await s.result()).usage.tool_calls == 3
        assert runtime.calls == [("w0", "bash")] * 3


async def test_no_sandbox_can_be_opened_at_start_up(service, task):
    async def startup(self, host):
        await host.open_workspace()

    async with service(task(startup=startup)) as s:
        assert "raas_init" in s.gateway.unavailable["task"]


async def test_the_runtime_is_probed_once_and_its_refusal_says_what_to_do(service, task, runtime):
    probed = []

    async def probe():
        probed.append(1)
        return type("Probe", (), {"available": False, "reason": "user namespaces are off", "level": "none"})()

    runtime.probe = probe
    chooser = RuntimeChooser("fake", allow_unsafe=False, runtimes={"fake": runtime, "local": runtime})
    with pytest.raises(WorkspaceFault, match="user namespaces are off"):
        await chooser.choose()
    for wanted, said in [
        ("auto", "--allow-unsafe-runtime"),
        ("local", "--allow-unsafe-runtime"),
        ("x", "not installed"),
    ]:
        with pytest.raises(WorkspaceFault, match=said):
            await RuntimeChooser(wanted, allow_unsafe=False, runtimes={"local": runtime}).choose()
    assert len(probed) == 1
