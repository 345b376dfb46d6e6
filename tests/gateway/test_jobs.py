"""Names, joins, conflicts, refusals, records, and a status that adds up."""

import asyncio

import pytest

from raas_sdk import Reward
from raas_sdk.errors import JobConflict, NoBackend, NotStarted, QueueFull, UnknownSource


class Gate:
    """A run that waits until it is told to go on, and counts how often it ran."""

    def __init__(self):
        self.ran, self.there, self.open = 0, asyncio.Event(), asyncio.Event()

    def hooks(self):
        async def run(this):
            self.ran += 1
            self.there.set()
            await self.open.wait()
            return self.ran

        return {"run": run}


async def test_a_live_job_is_joined_by_the_same_body(service, task):
    gate = Gate()
    async with service(task(**gate.hooks())) as s:
        one, two = s.submit("j"), s.submit("j")
        await gate.there.wait()
        three = s.submit("j")
        assert one is two is three
        gate.open.set()
        first, second = await asyncio.gather(one.done, three.done)
        assert first is second and gate.ran == 1


async def test_a_finished_job_gives_its_stored_result_again(service, task):
    async with service(task()) as s:
        first = await s.result("j")
        assert await s.result("j") is first
        assert len(s.backends[0].calls) == 1


@pytest.mark.parametrize("finished", [False, True])
async def test_a_name_with_another_body_is_a_conflict(service, task, finished):
    gate = Gate()
    async with service(task(**gate.hooks())) as s:
        job = s.submit("j")
        if finished:
            gate.open.set()
            await job.done
        with pytest.raises(JobConflict, match="'j'"):
            s.submit("j", sampling={"temperature": 0.3})
        gate.open.set()
        assert (await job.done).outcome == "scored"


async def test_the_name_of_a_cancelled_job_is_free_again(service, task):
    gate = Gate()
    async with service(task(**gate.hooks())) as s:
        first = s.submit("j")
        await gate.there.wait()
        s.gateway.cancel("j")
        assert (await first.done).outcome == "cancelled"
        gate.open.set()
        again = await s.result("j", sampling={"temperature": 0.3})
        assert again.outcome == "scored" and first.result.outcome == "cancelled"
        assert s.gateway.records.get("j").result is again


async def test_a_cancel_of_an_unknown_name_does_nothing_to_a_later_job(service, task):
    async with service(task()) as s:
        assert not s.gateway.cancel("nope") and not s.gateway.cancel("")
        assert (await s.result("nope")).outcome == "scored"


async def test_a_waiter_that_gives_up_costs_no_other_waiter_its_answer(service, task):
    gate = Gate()
    async with service(task(**gate.hooks())) as s:
        job = s.submit("j")
        impatient = asyncio.ensure_future(job.done)
        patient = asyncio.ensure_future(s.submit("j").done)
        await gate.there.wait()
        impatient.cancel()
        job.done.cancel()
        gate.open.set()
        assert (await patient).outcome == "scored"
        assert (await job.done).outcome == "scored"


async def test_what_cannot_be_taken_is_refused_at_once(service, task):
    gate = Gate()
    async with service(task(**gate.hooks()), init_workers=1, run_workers=1, handover=1, max_queued_jobs=2) as s:
        with pytest.raises(UnknownSource, match=r"'nope'.*available: task"):
            s.submit(source="nope")
        with pytest.raises(NoBackend, match="add_llm_server"):
            s.submit(pool="other")
        jobs = [s.submit("j0")]
        await gate.there.wait()
        with pytest.raises(QueueFull) as caught:
            while True:
                jobs.append(s.submit(f"j{len(jobs)}"))
                await s.settle()
        assert caught.value.retry_after > 0 and s.gateway.status()["queued"] == 2
        assert s.submit("j1") is jobs[1]
        gate.open.set()
        assert {(await job.done).outcome for job in jobs} == {"scored"}
        assert (await s.result("j0")).outcome == "scored"


async def test_only_so_many_finished_jobs_are_remembered(service, task):
    async with service(task(run=_nothing), keep_results=10) as s:
        for n in range(25):
            await s.result(f"j{n}")
        assert [name for name in s.gateway.records.finished] == [f"j{n}" for n in range(15, 25)]
        assert s.gateway.status()["finished"] == 25
        assert s.gateway.records.get("j3") is None
        assert (await s.result("j3")).outcome == "scored"


async def _nothing(self):
    return None


async def test_the_status_adds_up_at_every_moment(service, task):
    total, seen = 200, []
    pools = {"init_workers": 3, "run_workers": 4, "eval_workers": 2}

    async def run(self):
        await asyncio.sleep(0.002)

    async with service(task(run=run), **pools) as s:

        async def watch():
            while True:
                seen.append(s.gateway.status())
                await asyncio.sleep(0)

        jobs = [s.submit() for _ in range(total)]
        watcher = asyncio.create_task(watch())
        for n in range(0, total, 7):
            s.gateway.cancel(jobs[n].job.job_id)
            await asyncio.sleep(0)
        await asyncio.gather(*(job.done for job in jobs))
        watcher.cancel()
        await asyncio.wait({watcher})
    for status in seen:
        assert status["queued"] + status["in_progress"] + status["finished"] == total == status["accepted"]
        assert status["jobs"] == status["pending_jobs"] == status["queued"] + status["in_progress"]
        assert min(status[name] for name in ("queued", "in_progress", "init", "run", "eval", "finished")) >= 0
        assert status["init"] <= 3 and status["run"] <= 4 and status["eval"] <= 2
    assert max(status["run"] for status in seen) == 4


async def test_stop_answers_every_job_and_start_takes_new_ones(service, task):
    gate = Gate()
    async with service(task(**gate.hooks()), init_workers=4, run_workers=30) as s:
        jobs = [s.submit(f"j{n}") for n in range(50)]
        await gate.there.wait()
        assert await s.gateway.stop() == 0
        assert {job.result.outcome for job in jobs} == {"cancelled"}
        with pytest.raises(NotStarted, match="start"):
            s.submit("j0")
        assert await s.gateway.stop() == 0
        s.gateway.start()
        s.gateway.start()
        gate.open.set()
        assert (await s.result("j0")).outcome == "scored"


async def test_stop_answers_a_job_that_does_not_end_and_counts_it(service, task):
    there, release = asyncio.Event(), asyncio.Event()

    async def run(self):
        there.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with service(task(run=run), stop_seconds=0.02, grace_seconds=0.2) as s:
        job = s.submit("j")
        await there.wait()
        assert await s.gateway.stop() == 1
        result = await job.done
        assert result.outcome == "cancelled" and result.failure.code == "cancelled"
        while s.engine.table.running:
            await asyncio.sleep(0.01)
        s.gateway.start()
        release.set()
        assert (await s.result("j")).outcome == "scored"


async def test_a_result_says_when_its_job_was_accepted(service, task):
    async with service(task(run=_nothing)) as s:
        job = s.submit()
        assert (await job.done).timing.accepted_at == job.accepted_at > 1e9


async def test_the_observer_hears_stages_and_turns_in_order(service, task):
    heard = []

    class Observer:
        def stage(self, message):
            heard.append((message.stage, message.state))

        def turn(self, message):
            heard.append(("turn", message.index, message.text))

        def finished(self, result):
            heard.append(("finished", result.outcome))

    async def evaluate(self):
        return Reward(1.0)

    async with service(task(eval=evaluate)) as s:
        s.gateway.observer = Observer()
        await s.result()
        ways = [
            *[("init", state) for state in ("waiting", "running", "done")],
            *[("run", state) for state in ("waiting", "running")],
            ("turn", 0, "hi"),
            ("run", "done"),
            *[("eval", state) for state in ("waiting", "running", "done")],
            ("finished", "scored"),
        ]
        assert heard == ways
