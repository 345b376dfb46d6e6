"""Budgets of stages and of the whole job; the soft end of RUN and the hard end of everything."""

import asyncio

import pytest

from raas_sdk import EmptyWorkspace, LimitReached, Reward
from raas_sdk.testing.faults import Faults

SOFT = {"run_seconds": 0.05, "collect_seconds": 5}
CHAT = [{"role": "user", "content": "hi"}]


async def forever(self):
    await asyncio.Event().wait()


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
async def test_a_stage_that_never_returns_is_stopped_as_a_timeout(service, task, stage):
    asked = []
    hooks = {stage: forever, f"{stage}_exception": lambda self, error: asked.append(error)}
    async with service(task(**hooks)) as s:
        result = await s.result(limits={f"{stage}_seconds": 0.02, "collect_seconds": 0.02})
        assert (result.outcome, result.reward, result.failure.stage) == ("timeout", None, stage)
        assert result.failure.kind == "timeout" and not asked


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
async def test_the_total_ends_whatever_stage_it_is_in(service, task, stage):
    async with service(task(**{"run": _nothing, stage: forever})) as s:
        result = await s.result(limits={"total_seconds": 0.2})
        assert (result.outcome, result.failure.stage) == ("timeout", stage)


async def test_the_total_is_over_also_while_a_plugin_hands_in(service, task):
    async with service(task(run=forever)) as s:
        result = await s.result(limits={"run_seconds": 0.02, "total_seconds": 0.03, "collect_seconds": 60})
        assert result.outcome == "timeout"


async def test_stages_without_a_limit_run_to_their_end(service, task):
    none = {"init_seconds": None, "run_seconds": None, "eval_seconds": None}
    async with service(task()) as s:
        assert (await s.result(limits=none)).outcome == "scored"
        assert (await s.result(limits={**none, "total_seconds": 5})).outcome == "scored"


async def test_at_the_soft_end_sample_raises_and_what_is_handed_in_is_graded(service, task):
    seen = []

    async def run(self, policy):
        talk = policy.conversation(CHAT)
        try:
            while True:
                await talk.sample()
                talk.append({"role": "user", "content": "more"})
                await asyncio.sleep(0.001)
        except LimitReached as limit:
            seen.append(limit.reason)
        return "what I have"

    async def evaluate(self, trajectory):
        return Reward(float(trajectory.submission == "what I have"))

    async with service(task(run=run, eval=evaluate)) as s:
        result = await s.result(limits={**SOFT, "run_seconds": 0.3, "max_turns": 10_000})
        assert seen == ["time"]
        assert (result.outcome, result.reward, result.failure) == ("model_limit", 1.0, None)
        assert result.trajectory.stop_reason == "limit_time" and result.trainable


async def test_the_soft_end_interrupts_a_reply_that_is_being_sampled(service, task):
    async def run(self, policy):
        try:
            await policy.conversation(CHAT).sample()
        except LimitReached as limit:
            return limit.reason

    async with service(task(run=run)) as s:
        s.backends[0].faults.always = "hang"
        result = await s.result(limits={**SOFT, "run_seconds": 0.5})
        assert (result.outcome, result.reward) == ("model_limit", 1.0)
        assert result.mask_reason == "no_sampled_tokens"
        await s.backends[0].wait_disconnects(1)


async def test_the_soft_end_interrupts_a_running_tool(service, task, runtime):
    stopped = []

    async def answer():
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(1)

    async def init(self, host):
        return await host.open_workspace(tools=["bash"])

    async def run(self, workspace):
        try:
            await workspace.call("bash", {"command": "sleep 60"}, timeout=60)
        except LimitReached:
            return await workspace.read("answer.txt") == b""

    runtime.answer = answer
    async with service(task(init=init, run=run)) as s:
        result = await s.result(limits=SOFT)
        assert (result.outcome, result.trajectory.submission) == ("model_limit", True)
        assert stopped == [1] and result.usage.tool_calls == 1


async def test_after_the_soft_end_no_more_is_sampled(service, task):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        raised = 0
        while raised < 3:
            try:
                await asyncio.sleep(0.01)
                await talk.sample()
                talk.append({"role": "user", "content": "more"})
            except LimitReached:
                raised += 1
        return raised

    async with service(task(run=run)) as s:
        result = await s.result(limits={"run_seconds": 0.03, "collect_seconds": 5})
        assert (result.outcome, result.trajectory.submission) == ("model_limit", 3)


async def test_a_plugin_that_lets_the_limit_through_is_a_model_limit_without_reward(service, task):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        while True:
            await talk.sample()
            talk.append({"role": "user", "content": "more"})

    async with service(task(run=run)) as s:
        result = await s.result(limits={"max_turns": 3})
        assert (result.outcome, result.reward, result.failure.code) == ("model_limit", None, "limit_turns")
        assert result.trajectory.num_turns == 3 and result.mask_reason == "no_reward"


@pytest.mark.parametrize(
    ("limits", "reason", "turns"),
    [
        ({"max_turns": 2}, "turns", 2),
        ({"max_total_tokens": 7}, "tokens", 3),
        ({"max_model_len": 60}, "context", 2),
    ],
)
async def test_each_limit_of_the_rollout_ends_it_softly(service, task, limits, reason, turns):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        try:
            while True:
                await talk.sample()
                talk.append({"role": "user", "content": "more"})
        except LimitReached as limit:
            return limit.reason

    async with service(task(run=run)) as s:
        result = await s.result(limits=limits)
        assert (result.outcome, result.reward, result.trajectory.submission) == ("model_limit", 1.0, reason)
        assert result.trajectory.num_turns == turns and result.trainable
        assert result.trajectory.sampled_tokens <= limits.get("max_total_tokens", 100)
        assert all(
            len(segment.token_ids) <= limits.get("max_model_len", 10_000) for segment in result.trajectory.segments
        )


async def test_a_backend_that_finds_the_prompt_too_long_is_a_model_limit(service, task):
    async with service(task()) as s:
        s.backends[0].faults.always = "context"
        result = await s.result()
        assert (result.outcome, result.failure.code) == ("model_limit", "limit_context")


async def test_a_handler_that_ignores_its_cancel_does_not_keep_its_slot(service, task):
    release = asyncio.Event()

    async def stubborn(self, job):
        while job.job_id.startswith("bad") and not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return 1

    async with service(task(run=stubborn), run_workers=2, grace_seconds=0.02) as s:
        bad = [s.submit(f"bad{n}", limits={"run_seconds": 0.02, "collect_seconds": 0.02}) for n in range(4)]
        good = [s.submit() for _ in range(8)]
        outcomes = [(await job.done).outcome for job in bad]
        assert outcomes == ["timeout"] * 4
        assert {(await job.done).outcome for job in good} == {"scored"}
        assert "left behind" in (await bad[0].done).extra["notes"][0]
        release.set()


async def test_what_a_plugin_leaves_running_ends_with_its_stage(service, task, runtime):
    left = []

    async def later(policy, workspace, host):
        for use in (
            lambda: policy.conversation(CHAT).sample(),
            lambda: workspace.call("bash", {}, timeout=1),
            lambda: host.open_workspace(),
        ):
            try:
                left.append(await use())
            except Exception as error:
                left.append(error.code)

    tasks, fakes = [], []

    async def init(self, host):
        return await host.open_workspace()

    async def run(self, policy, workspace, host):
        tasks.append(asyncio.create_task(policy.conversation(CHAT).sample()))
        await fakes[0].wait_requests(1)
        self.rest = policy, workspace, host
        return 1

    async def evaluate(self):
        await later(*self.rest)
        return Reward(1.0)

    async with service(task(init=init, run=run, eval=evaluate)) as s:
        fakes.extend(s.backends)
        s.backends[0].faults.always = "hang"
        result = await s.result()
        assert result.outcome == "scored" and left == ["stage_over"] * 3
        (outcome,) = await asyncio.gather(*tasks, return_exceptions=True)
        assert getattr(outcome, "code", None) == "stage_over"
        await s.backends[0].wait_disconnects(1)
        assert result.trajectory.num_turns == 0


async def test_waiting_for_a_backend_counts_towards_no_budget(service, task):
    async with service(task(), limits={"run_seconds": 0.5, "total_seconds": 0.5}) as s:
        s.gateway.backends.mark_unhealthy(s.gateway.backends.list()[0].id, "asleep")
        job = s.submit()
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        s.gateway.backends.mark_healthy(s.gateway.backends.list()[0].id)
        s.gateway.desk.refresh()
        result = await job.done
        assert result.outcome == "scored" and result.timing.lease_wait >= 0.05
        assert result.timing.counted < result.timing.total - 0.04


async def test_a_backend_that_never_answers_costs_a_job_no_more_than_its_budget(service, task):
    async with service(task(init=lambda self: _ready())) as s:
        s.backends[0].faults = Faults(always="hang")
        result = await s.result(limits={"run_seconds": 0.05, "collect_seconds": 0.05})
        assert result.outcome == "model_limit" and result.reward is None


async def _nothing(self):
    return None


async def _ready():
    return EmptyWorkspace()
