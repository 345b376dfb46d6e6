"""Which backend a job samples from, and what happens when backends come, go, change and die."""

import asyncio
from collections import Counter

from raas_sdk import Reward
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens.alignment import check_segment

HI = [104, 105, 257]


class Paced:
    """A run of several turns that waits for its gate before each turn after the first."""

    def __init__(self, turns=3):
        self.turns, self.sampled, self.gate = turns, asyncio.Queue(), asyncio.Semaphore(0)

    def hooks(self):
        async def run(this, policy):
            talk = policy.conversation([{"role": "user", "content": "hi"}])
            for turn in range(self.turns):
                if turn:
                    await self.gate.acquire()
                    talk.append({"role": "user", "content": "more"})
                await talk.sample()
                self.sampled.put_nowait(turn)
            return self.turns

        async def evaluate(this, trajectory):
            return Reward(float(trajectory.num_turns == self.turns))

        return {"run": run, "eval": evaluate}

    def go(self):
        for _ in range(1000):
            self.gate.release()


def port_of(backend):
    return int(backend.address.rsplit(":", 1)[1])


def versions(result):
    return [span.version for s in result.trajectory.segments for span in s.turns if span.role == "assistant"]


def addresses(result):
    return [span.backend for s in result.trajectory.segments for span in s.turns if span.role == "assistant"]


async def test_all_turns_of_a_job_are_sampled_on_one_backend(service, task):
    paced = Paced(turns=6)
    paced.go()
    async with service(task(**paced.hooks()), backends=3) as s:
        results = await asyncio.gather(*(s.result() for _ in range(9)))
        for result in results:
            assert len(set(addresses(result))) == 1 and len(addresses(result)) == 6
        assert [len(backend.calls) for backend in s.backends] == [18, 18, 18]


async def test_live_jobs_are_spread_evenly_however_long_they_last(service, task):
    async def run(self, job):
        await asyncio.sleep(0.05 if job.instance.payload["n"] % 4 == 0 else 0.001)

    async with service(task(run=run), backends=4, run_workers=16, init_workers=16) as s:
        most, jobs = [], [s.submit(instance={"n": n}) for n in range(64)]
        while not all(job.result for job in jobs):
            live = [backend.live for backend in s.gateway.backends.list()]
            most.append((max(live), sum(live) / 4))
            await asyncio.sleep(0)
        assert all(busiest <= max(2 * mean, 1) + 2 for busiest, mean in most)
        assert max(mean for _, mean in most) == 4


async def test_a_job_whose_backends_are_gone_waits_for_the_next_one(service, task):
    async with service(task()) as s:
        job = s.submit("j")
        s.gateway.clear_backends()
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0)
        s.gateway.add_backend(s.backends[0].address)
        result = await job.done
        assert result.outcome == "scored" and versions(result) == [1]


async def test_a_job_waits_for_a_backend_up_to_a_stated_limit_and_no_longer(service, task):
    async with service(task(), lease_wait_seconds=0.05) as s:
        job = s.submit("j")
        s.gateway.clear_backends()
        result = await job.done
        assert (result.outcome, result.failure.code, result.attempt) == ("infra_error", "no_backend", 1)
        assert "within 0.05 s" in result.failure.message and "add_llm_server" in result.failure.message


async def test_running_jobs_stay_where_they_are_when_backends_are_cleared_and_new_ones_added(service, task):
    paced = Paced()
    async with service(task(**paced.hooks()), backends=2) as s:
        old, new = s.backends
        s.gateway.backends.remove(s.gateway.backends.list()[1].id)
        running = [s.submit() for _ in range(2)]
        for _ in running:
            await paced.sampled.get()
        assert s.gateway.clear_backends() == 1
        s.gateway.add_backend(new.address)
        later = s.submit()
        paced.go()
        for job in running:
            result = await job.done
            assert result.outcome == "scored" and result.trainable
            assert set(addresses(result)) == {old.address} and set(versions(result)) == {0}
        result = await later.done
        assert set(addresses(result)) == {new.address} and set(versions(result)) == {1}
        assert result.policy_version == {"dispatch": 1, "min": 1, "max": 1}


async def test_a_backend_that_is_added_again_stamps_its_running_jobs_next_turns(service, task):
    paced = Paced()
    async with service(task(**paced.hooks())) as s:
        job = s.submit()
        await paced.sampled.get()
        s.gateway.clear_backends()
        s.gateway.add_backend(s.backends[0].address)
        await s.settle()
        paced.go()
        result = await job.done
        assert (result.outcome, versions(result)) == ("scored", [0, 1, 1]) and result.trainable
        assert result.policy_version == {"dispatch": 0, "min": 0, "max": 1}
        (segment,) = result.trajectory.segments
        assert [version for _, version in segment.versions] == [-1, 0, -1, 1, -1, 1]


async def test_a_new_version_is_stamped_from_the_next_turn_on(service, task):
    paced = Paced()
    async with service(task(**paced.hooks())) as s:
        job = s.submit()
        await paced.sampled.get()
        s.gateway.desk.set_version(9)
        await s.settle()
        paced.go()
        result = await job.done
        assert versions(result) == [0, 9, 9] and result.trainable


async def test_when_a_backend_dies_in_the_middle_of_a_turn_its_jobs_go_on_elsewhere_from_their_ids(service, task):
    paced = Paced(turns=4)
    async with service(task(**paced.hooks()), backends=2) as s:
        jobs = [s.submit(f"j{n}") for n in range(8)]
        for _ in jobs:
            await paced.sampled.get()
        dead, alive = s.backends
        dead.faults.always = "hang"
        asked = dead.requests
        paced.go()
        await dead.wait_requests(asked + 4)
        await dead.stop()
        for job in jobs:
            result = await job.done
            assert (result.outcome, result.reward, result.attempt) == ("scored", 1.0, 1) and result.trainable
            (segment,) = result.trajectory.segments
            check_segment(segment)
            calls = [call for b in s.backends for call in b.calls if call.request_id.startswith(f"{result.job_id}-")]
            last = max(calls, key=lambda call: len(call.prompt_ids))
            assert tuple(segment.token_ids) == last.prompt_ids + last.response_ids
            assert sum(segment.loss_mask) == sum(len(call.response_ids) for call in calls)
            assert addresses(result)[1:] == [alive.address] * 3
        assert {b.address: b.healthy for b in s.gateway.backends.list()} == {
            _at(dead, s): False,
            alive.address: True,
        }
        assert {(await s.result()).outcome for _ in range(4)} == {"scored"}


def _at(dead, s):
    """The address of a fake that does not serve any more."""
    (address,) = {b.address for b in s.gateway.backends.list()} - {b.address for b in s.backends if b is not dead}
    return address


async def test_a_backend_that_comes_back_is_used_again(service, task):
    async with service(task(), backends=2) as s:
        dead, port = s.backends[0], port_of(s.backends[0])
        await dead.stop()
        assert {result.outcome for result in await asyncio.gather(*(s.result() for _ in range(8)))} == {"scored"}
        await dead.start(port)
        while not all(backend.usable for backend in s.gateway.backends.list()):
            await asyncio.sleep(0.01)
        await asyncio.gather(*(s.result() for _ in range(8)))
        assert dead.calls and all(backend.healthy for backend in s.gateway.backends.list())


async def test_a_job_of_the_only_backend_waits_in_its_turn_until_it_is_back(service, task):
    paced = Paced()
    async with service(task(**paced.hooks()), limits={"run_seconds": 5.0}) as s:
        backend, port = s.backends[0], port_of(s.backends[0])
        job = s.submit()
        await paced.sampled.get()
        await backend.stop()
        paced.go()
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        await backend.start(port)
        result = await job.done
        assert (result.outcome, result.attempt, result.trajectory.num_turns) == ("scored", 1, 3)
        assert result.trainable and result.timing.lease_wait >= 0.05
        assert result.timing.counted < result.timing.total - 0.04
        (segment,) = result.trajectory.segments
        notes = [span.note for span in segment.turns if span.role == "assistant"]
        assert notes[0] is None and "gave no answer in 3 tries" in notes[1] and notes[2] is None


async def test_several_conversations_of_one_job_move_once_together(service, task):
    there, gate = asyncio.Event(), asyncio.Event()

    async def run(self, policy):
        talks = [policy.conversation([{"role": "user", "content": f"hi {n}"}]) for n in range(4)]
        there.set()
        await gate.wait()
        await asyncio.gather(*(talk.sample() for talk in talks))

    async with service(task(run=run), backends=2) as s:
        job = s.submit()
        await there.wait()
        dead = next(b for b in s.backends if b.address == _leased(s))
        dead.faults.always = "status"
        gate.set()
        result = await job.done
        assert (result.outcome, result.trajectory.num_turns) == ("scored", 4)
        assert len(set(addresses(result))) == 1 and dead.address not in addresses(result)


def _leased(s):
    (leased,) = [backend.address for backend in s.gateway.backends.list() if backend.live]
    return leased


async def test_a_backend_that_fails_for_ever_is_asked_nine_times_and_the_job_fails_once(service, task):
    async with service(task(), backend_rest_seconds=0.01) as s:
        s.backends[0].faults.always = "status"
        result = await s.result()
        assert (result.outcome, result.failure.code, result.attempt) == ("infra_error", "backend_unreachable", 1)
        assert "HTTP 500" in result.failure.message and s.backends[0].requests == 9


async def test_a_backend_that_answers_probes_but_samples_nothing_is_tried_by_one_job_at_a_time(service, task):
    async with service(task(), backend_rest_seconds=0.05, run_workers=32, init_workers=32, handover=32) as s:
        s.backends[0].faults.always = "status"
        jobs = [s.submit() for _ in range(32)]
        while s.gateway.desk.waiting < 32:
            await asyncio.sleep(0.001)
        (backend,) = s.gateway.backends.list()
        asked, outages = s.backends[0].requests, backend.outages
        await s.backends[0].wait_requests(asked + 6)
        assert backend.outages >= outages + 1 and s.gateway.desk.waiting >= 29
        s.backends[0].faults.always = None
        assert {str((await job.done).failure) for job in jobs} == {"None"}
        (backend,) = s.gateway.backends.list()
        assert backend.healthy and backend.outages == 0


async def test_a_trial_whose_job_ends_without_sampling_goes_to_the_next_job(service, task):
    first, gate = asyncio.Event(), asyncio.Event()

    async def run(self, job, policy):
        if job.job_id == "idle":
            first.set()
            await gate.wait()
            return None
        return (await policy.conversation([{"role": "user", "content": "hi"}]).sample()).text

    async with service(task(run=run)) as s:
        backend = s.gateway.backends.list()[0]
        s.gateway.backends.mark_unhealthy(backend.id, "asleep")
        s.gateway.backends.try_again(backend.id)
        idle = s.submit("idle")
        await first.wait()
        second = s.submit("second")
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0)
        gate.set()
        assert (await idle.done).outcome == (await second.done).outcome == "scored" and backend.healthy


async def test_a_job_waits_for_its_own_weights_while_a_backend_may_come_back_with_them(service, task):
    paced = Paced()
    async with service(task(**paced.hooks())) as s, FakeBackend(script=[[104, 257]]) as other:
        job, port = s.submit(), port_of(s.backends[0])
        await paced.sampled.get()
        s.gateway.add_backend(other.address, version=7)
        await s.backends[0].stop()
        paced.go()
        while not s.gateway.desk.waiting:
            await asyncio.sleep(0.001)
        await s.backends[0].start(port)
        result = await job.done
        assert (result.outcome, result.attempt) == ("scored", 1)
        assert versions(result) == [0, 0, 0] and len(set(addresses(result))) == 1


async def test_a_job_goes_on_with_new_weights_when_its_own_did_not_come_back_in_time(service, task):
    paced = Paced()
    async with service(task(**paced.hooks()), lease_wait_seconds=0.2) as s, FakeBackend(script=[HI]) as other:
        job = s.submit()
        await paced.sampled.get()
        s.gateway.add_backend(other.address, version=7)
        await s.backends[0].stop()
        paced.go()
        result = await job.done
        assert (result.outcome, result.attempt, versions(result)) == ("scored", 1, [0, 7, 7])


async def test_a_job_whose_weights_are_gone_from_the_pool_goes_on_with_the_new_ones(service, task):
    paced = Paced()
    async with service(task(**paced.hooks())) as s, FakeBackend(script=[HI]) as other:
        job = s.submit()
        await paced.sampled.get()
        s.gateway.clear_backends()
        s.gateway.add_backend(other.address)
        await s.backends[0].stop()
        paced.go()
        result = await job.done
        assert (result.outcome, result.attempt, versions(result)) == ("scored", 1, [0, 1, 1])
        assert addresses(result)[1:] == [other.address] * 2
        assert result.policy_version == {"dispatch": 0, "min": 0, "max": 1} and result.trainable


async def test_a_backend_that_got_new_weights_is_not_blamed_for_a_call_to_the_old_ones(service, task):
    async with service(task(), backends=1) as s:
        s.backends[0].faults.always = "hang"
        job = s.submit()
        await s.backends[0].wait_requests(1)
        s.backends[0].faults.always = None
        port = port_of(s.backends[0])
        s.gateway.add_backend(s.backends[0].address, version=4)
        await s.settle()
        await s.backends[0].stop()
        await s.backends[0].start(port)
        result = await job.done
        assert result.outcome == "scored"
        assert [backend.health for backend in s.gateway.backends.list()] == ["up"]


async def test_a_job_whose_backend_never_comes_back_fails_after_a_stated_wait(service, task):
    async with service(task(), lease_wait_seconds=0.1) as s:
        await s.backends[0].stop()
        result = await s.result()
        assert (result.outcome, result.failure.code, result.attempt) == ("infra_error", "backend_unreachable", 1)
        assert "none came back to pool 'default' within 0.1 s" in result.failure.message


async def test_a_removed_backends_jobs_go_on_at_another_with_the_same_weights(service, task):
    paced = Paced()
    async with service(task(**paced.hooks()), backends=2) as s:
        jobs = [s.submit() for _ in range(4)]
        for _ in jobs:
            await paced.sampled.get()
        gone, stays = s.gateway.backends.list()
        s.gateway.remove_backend(gone.id, drain=False)
        await s.settle()
        paced.go()
        results = [await job.done for job in jobs]
        assert all(set(addresses(result)[1:]) == {stays.address} for result in results)
        assert {result.outcome for result in results} == {"scored"}


async def test_a_draining_backend_lets_its_jobs_end_and_gets_no_more(service, task):
    paced = Paced()
    async with service(task(**paced.hooks()), backends=2) as s:
        jobs = [s.submit() for _ in range(4)]
        for _ in jobs:
            await paced.sampled.get()
        draining, stays = s.gateway.backends.list()
        s.gateway.remove_backend(draining.id, drain=True)
        later = s.submit()
        paced.go()
        results = [await job.done for job in jobs]
        assert Counter(addresses(result)[-1] for result in results) == {draining.address: 2, stays.address: 2}
        assert set(addresses(await later.done)) == {stays.address}
        await s.settle()
        assert [backend.id for backend in s.gateway.backends.list()] == [stays.id]


async def test_pools_do_not_mix(service, task):
    async with service(task(), backends=2) as s:
        s.gateway.clear_backends()
        one, other = s.backends
        s.gateway.add_backend(one.address, pool="a")
        s.gateway.add_backend(other.address, pool="b")
        results = await asyncio.gather(*(s.result(pool=pool) for pool in "aabb"))
        found = Counter((result.pool, addresses(result)[0]) for result in results)
        assert found == {("a", one.address): 2, ("b", other.address): 2}


async def test_a_backend_that_cannot_be_reached_when_it_is_added_is_kept_and_probed_at_first_use(service, task):
    async with service(task()) as s:
        backend, port = s.backends[0], port_of(s.backends[0])
        s.gateway.clear_backends()
        await backend.stop()
        s.gateway.add_backend(f"http://127.0.0.1:{port}")
        (kept,) = s.gateway.status()["backends"]
        assert kept["wire"] is None
        await backend.start(port)
        assert (await s.result()).outcome == "scored"
