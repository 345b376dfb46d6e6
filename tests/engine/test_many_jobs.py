"""A thousand jobs at once, well behaved and not: every one is answered once, and nothing is left."""

import asyncio
import gc
import random
from collections import Counter

from raas_sdk import EmptyWorkspace, Failure, Reward, WorkspaceFault
from raas_sdk.engine.attempt import Attempt
from raas_sdk.engine.supervision import Supervisor
from raas_sdk.gateway import Observer

COUNT = 1000


class Counting(Observer):
    def __init__(self):
        self.results = Counter()

    def finished(self, result):
        self.results[result.job_id] += 1


async def test_a_thousand_jobs_that_do_nothing(service, task):
    async def run(self):
        return None

    async with service(task(run=run)) as s:
        s.gateway.observer = Counting()
        jobs = [s.submit(f"j{n}") for n in range(COUNT)]
        results = await asyncio.gather(*(job.done for job in jobs))
        assert Counter(result.outcome for result in results) == {"scored": COUNT}
        assert s.gateway.observer.results == dict.fromkeys((f"j{n}" for n in range(COUNT)), 1)


class Chaos:
    """Does something at random in every stage; the same for one seed."""

    def __init__(self, runtime):
        self.rng = random.Random(11)
        self.runtime = runtime
        self.chances = {
            "ok": 12,
            "raise": 2,
            "infra": 2,
            "died": 1,
            "garbage": 1,
            "cancelled": 1,
            "exit": 1,
            "hang": 1,
            "stubborn": 1,
        }

    async def maybe(self, good):
        kind = self.rng.choices([*self.chances], [*self.chances.values()])[0]
        await asyncio.sleep(self.rng.choice([0, 0, 0.001]))
        if kind == "hang":
            await asyncio.Event().wait()
        if kind == "stubborn":
            await self.stubborn()
        raised = {
            "raise": ValueError("chaos"),
            "infra": WorkspaceFault("chaos"),
            "died": WorkspaceFault("chaos", code="sandbox_died"),
            "cancelled": asyncio.CancelledError(),
            "exit": SystemExit(1),
        }.get(kind)
        if raised is not None:
            raise raised
        return object() if kind == "garbage" else good

    async def stubborn(self):
        for _ in range(3):
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue

    def decide(self):
        kind = self.rng.choice(["none", "none", "reward", "failure", "raise", "garbage", "exit"])
        if kind in ("raise", "exit"):
            raise {"raise": KeyError("hook"), "exit": KeyboardInterrupt()}[kind]
        answers = {"none": None, "reward": Reward(0.0), "failure": Failure("run", "infra", "c", "m"), "garbage": 17}
        return answers[kind]

    def hooks(self):
        async def init(this, host):
            workspace = await host.open_workspace() if self.rng.random() < 0.5 else EmptyWorkspace()
            return await self.maybe(workspace)

        async def run(this, policy):
            if self.rng.random() < 0.3:
                await policy.conversation([{"role": "user", "content": "hi"}]).sample()
            return await self.maybe("done")

        async def evaluate(this):
            return await self.maybe(Reward(self.rng.random()))

        deciding = {f"{stage}_exception": lambda this: self.decide() for stage in ("init", "run", "eval")}
        return {"init": init, "run": run, "eval": evaluate, "final_result": lambda this: self.decide(), **deciding}


LIMITS = {"init_seconds": 0.03, "run_seconds": 0.03, "eval_seconds": 0.03, "collect_seconds": 0.01}


async def test_a_thousand_jobs_that_fail_at_random_in_every_way(service, task, runtime):
    chaos = Chaos(runtime)
    pools = {"init_workers": 64, "run_workers": 64, "eval_workers": 64, "handover": 64, "grace_seconds": 0.01}
    async with service(task(**chaos.hooks()), backends=2, limits=LIMITS, **pools) as s:
        s.gateway.observer = Counting()
        for backend in s.backends:
            backend.faults.queued.extend([None, None, None, None] * 200)
        jobs = [s.submit(f"j{n}") for n in range(COUNT)]
        for n in chaos.rng.sample(range(COUNT), 200):
            asyncio.get_running_loop().call_later(chaos.rng.random(), s.gateway.cancel, f"j{n}")
        results = await asyncio.gather(*(job.done for job in jobs))
        outcomes = Counter(result.outcome for result in results)
        assert set(outcomes) == {"scored", "model_limit", "task_error", "infra_error", "timeout", "cancelled"}
        assert s.gateway.observer.results == dict.fromkeys((f"j{n}" for n in range(COUNT)), 1)
        for result in results:
            assert (result.reward is None) or result.outcome in ("scored", "model_limit")
            assert result.trainable == (result.mask_reason is None)
            assert (result.failure is not None) or result.outcome in ("scored", "model_limit")
        await asyncio.sleep(0.1)  # the stubborn ones that were left behind
        assert not runtime.open


async def test_a_finished_job_leaves_nothing_for_the_collector(service, task):
    async with service(task()) as s:
        await s.result("first")
        gc.collect()
        before = {id(each) for each in _of_jobs()}
        gc.disable()
        try:
            assert (await s.result("second")).outcome == "scored"
            await s.settle()
            assert not [each for each in _of_jobs() if id(each) not in before]
        finally:
            gc.enable()


def _of_jobs():
    return [each for each in gc.get_objects() if isinstance(each, Attempt | Supervisor)]
