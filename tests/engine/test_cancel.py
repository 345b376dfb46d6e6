"""A cancel works in every state, ends in exactly one result, asks no hook and leaves nothing."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from raas_sdk import Reward
from raas_sdk.gateway import Observer

CHAT = [{"role": "user", "content": "hi"}]


class Places:
    """A task that stands still in one place, says when it is there, and notes the hooks that are asked."""

    def __init__(self, place):
        self.place, self.there, self.asked = place, asyncio.Event(), []

    async def stand(self, place):
        if place == self.place:
            self.there.set()
            await asyncio.Event().wait()

    def hooks(self):
        async def init(this, host):
            await self.stand("init")
            return await host.open_workspace(tools=["bash"])

        async def run(this, workspace, policy):
            await self.stand("run")
            if self.place == "sample":
                self.there.set()
                await policy.conversation(CHAT).sample()
            if self.place == "tool":
                await workspace.call("bash", {}, timeout=60)
            return 1

        async def evaluate(this, host):
            await host.open_workspace()
            await self.stand("eval")
            if self.place == "grade":
                self.there.set()
                await host.grade(_sleep, seconds=60)
            return Reward(1.0)

        asked = {
            f"{name}_exception": lambda this: self.asked.append("exception") for name in ("init", "run", "eval")
        } | {"final_result": lambda this: self.asked.append("final")}
        return {"init": init, "run": run, "eval": evaluate, **asked}


def _sleep():
    import time

    time.sleep(60)


class Counting(Observer):
    def __init__(self):
        self.results = []

    def finished(self, result):
        self.results.append(result)


PLACES = ["init", "run", "sample", "tool", "eval", "grade", "closing"]


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("place", PLACES)
async def test_a_job_is_cancelled_wherever_it_is(service, task, runtime, place, twice):
    places = Places(place)
    gate = asyncio.Event()

    async def stand():
        places.there.set()
        await (gate.wait() if place == "closing" else asyncio.Event().wait())

    if place == "tool":
        runtime.answer = stand
    if place == "closing":
        runtime.fail_close = stand
    async with service(task(**places.hooks())) as s:
        s.gateway.observer = Counting()
        if place == "sample":
            s.backends[0].faults.always = "hang"
        job = s.submit("j")
        await places.there.wait()
        if place == "sample":
            await s.backends[0].wait_requests(1)
        assert s.gateway.cancel("j")
        if twice:
            await asyncio.sleep(0)
            assert s.gateway.cancel("j")
            await asyncio.sleep(0)
            s.gateway.cancel("j")
        gate.set()
        result = await job.done
        assert (result.outcome, result.reward, result.failure.kind) == ("cancelled", None, "cancelled")
        assert result.mask_reason == "outcome_cancelled" and not places.asked
        assert not s.gateway.cancel("j")
        runtime.fail_close = runtime.answer = None
        s.backends[0].faults.always = None
        places.place = None
        assert (await s.result("after")).outcome == "scored"
        assert [r.job_id for r in s.gateway.observer.results] == ["j", "after"]


async def test_a_queued_job_is_cancelled_before_it_starts(service, task):
    places = Places("init")
    async with service(task(**places.hooks()), init_workers=1) as s:
        first, queued = s.submit("first"), s.submit("queued")
        await places.there.wait()
        assert s.gateway.cancel("queued")
        result = await queued.done
        assert (result.outcome, result.failure.stage) == ("cancelled", "queued")
        assert result.timing.queue_wait > 0 and s.gateway.status()["queued"] == 0
        s.gateway.cancel("first")
        await first.done


async def test_a_job_is_cancelled_before_its_tasks_first_step(service, task):
    async with service(task()) as s:
        jobs = []
        for n in range(20):
            jobs.append(s.submit(f"j{n}"))
            for _ in range(n):
                await asyncio.sleep(0)
            s.gateway.cancel(f"j{n}")
        outcomes = {(await job.done).outcome for job in jobs}
        assert outcomes <= {"cancelled", "scored"} and "cancelled" in outcomes


@pytest.mark.parametrize("stage", ["init", "run", "eval", "handover"])
async def test_a_job_that_waits_for_a_permit_is_cancelled(service, task, stage):
    places = Places({"handover": "run"}.get(stage, stage))
    pools = {"init_workers": 2, "run_workers": 1, "eval_workers": 1, "handover": 1}
    async with service(task(**places.hooks()), **pools) as s:
        jobs = [s.submit(f"j{n}") for n in range(6)]
        await places.there.wait()
        pool = s.engine.pools.handover if stage == "handover" else s.engine.pools.by_stage[stage]
        while stage not in ("init",) and not pool.waiting:
            await asyncio.sleep(0)
        for n in reversed(range(6)):
            s.gateway.cancel(f"j{n}")
        assert {(await job.done).outcome for job in jobs} == {"cancelled"}


async def test_a_job_that_waits_for_a_backend_is_cancelled(service, task):
    async with service(task()) as s:
        s.gateway.backends.mark_unhealthy(s.gateway.backends.list()[0].id, "asleep")
        job = s.submit("j")
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0)
        s.gateway.cancel("j")
        assert (await job.done).outcome == "cancelled"
        await s.settle()
        assert s.gateway.desk.waiting == 0


async def test_a_cancelled_rollout_keeps_the_turns_it_has(service, task):
    reached = asyncio.Event()

    async def run(self, policy):
        talk = policy.conversation(CHAT)
        await talk.sample()
        talk.append({"role": "user", "content": "more"})
        await talk.sample()
        reached.set()
        await asyncio.Event().wait()

    async with service(task(run=run)) as s:
        job = s.submit("j")
        await reached.wait()
        s.gateway.cancel("j")
        result = await job.done
        assert result.trajectory.num_turns == 2 and result.trajectory.sampled_tokens == 6
        assert result.failure.stage == "run"


async def test_a_cancelled_job_asks_the_backend_for_nothing_more(service, task):
    async with service(task()) as s:
        s.backends[0].faults.always = "status"
        s.client._backoff = type(s.client._backoff)(max_attempts=10_000, first_seconds=0.001, longest_seconds=0.002)
        job = s.submit("j")
        await s.backends[0].wait_requests(3)
        s.gateway.cancel("j")
        assert (await job.done).outcome == "cancelled"
        await asyncio.sleep(0.01)
        asked = s.backends[0].requests
        await asyncio.sleep(0.05)
        assert s.backends[0].requests == asked


async def test_cancels_that_race_the_end_leave_one_result_each(service, task):
    async with service(task(), run_workers=200, init_workers=16) as s:
        s.gateway.observer = Counting()
        jobs = {}

        async def race(n):
            jobs[n] = s.submit(f"j{n}")
            for _ in range(n):
                await asyncio.sleep(0)
            s.gateway.cancel(f"j{n}")
            s.gateway.cancel(f"j{n}")
            return await jobs[n].done

        results = await asyncio.gather(*(race(n) for n in range(200)))
        assert {result.outcome for result in results} <= {"cancelled", "scored"}
        assert sorted(r.job_id for r in s.gateway.observer.results) == sorted(f"j{n}" for n in range(200))
        assert s.gateway.status()["finished"] == 200


async def test_a_plugin_that_swallows_its_cancel_is_cancelled_all_the_same(service, task):
    there = asyncio.Event()

    async def run(self):
        there.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "not me"

    async with service(task(run=run)) as s:
        job = s.submit("j")
        await there.wait()
        s.gateway.cancel("j")
        assert (await job.done).outcome == "cancelled"


async def test_a_plugin_that_ignores_its_cancel_does_not_hold_up_the_answer(service, task):
    there, release = asyncio.Event(), asyncio.Event()

    async def run(self):
        there.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with service(task(run=run), grace_seconds=0.02) as s:
        job = s.submit("j")
        await there.wait()
        try:
            s.gateway.cancel("j")
            assert (await job.done).outcome == "cancelled"
            assert len(s.gateway.engine.cleaning) == len(s.engine.table.running) == 1
            await s.gateway.engine.tidy.wait()
            assert len(s.engine.left_behind) == 1
            while not s.gateway.status()["engines"][0]["left_behind"]:
                await asyncio.sleep(0.01)
        finally:
            release.set()


async def test_a_reused_name_never_meets_what_comes_late_from_its_cancelled_predecessor(service, task):
    there, release, ran = asyncio.Event(), asyncio.Event(), []

    async def run(self, policy):
        ran.append(policy)
        if len(ran) > 1:
            return (await policy.conversation(CHAT).sample()).text
        there.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with service(task(run=run), grace_seconds=5.0) as s:
        s.gateway.observer = Counting()
        first = s.submit("j")
        await there.wait()
        s.gateway.cancel("j")
        assert (await first.done).outcome == "cancelled"
        second = s.submit("j", sampling={"temperature": 0.5})
        while len(ran) < 2:
            await asyncio.sleep(0)
        release.set()
        result = await second.done
        assert (result.outcome, result.trajectory.num_turns) == ("scored", 1)
        assert [r.outcome for r in s.gateway.observer.results] == ["cancelled", "scored"]


async def test_a_plugin_that_swallows_its_cancel_samples_no_more(service, task):
    there = asyncio.Event()

    async def run(self, policy):
        talk = policy.conversation(CHAT)
        there.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await talk.sample()

    async with service(task(run=run)) as s:
        job = s.submit("j")
        await there.wait()
        s.gateway.cancel("j")
        assert (await job.done).outcome == "cancelled"
        await s.gateway.engine.tidy.wait()
        assert not s.backends[0].requests


async def test_closing_the_service_ends_every_job(service, task):
    places = Places("run")
    async with AsyncExitStack() as stack:
        s = await stack.enter_async_context(service(task(**places.hooks()), idle=False))
        jobs = [s.submit() for _ in range(30)]
        await places.there.wait()
    assert {job.result.outcome for job in jobs} == {"cancelled"}
    assert s.leftovers().get("live") is None
