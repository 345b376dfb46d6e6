"""How many jobs are where at once, and that all that is lent comes back."""

import asyncio
from collections import Counter

import pytest

from raas_sdk import EmptyWorkspace, Reward


class Watch:
    """Counts who is in a stage now and at most; `gates` hold a stage until they are opened."""

    def __init__(self, *gated):
        self.now, self.most = Counter(), Counter()
        self.gates = {stage: asyncio.Event() for stage in gated}
        self.news = asyncio.Event()

    async def through(self, stage):
        self.now[stage] += 1
        self.most[stage] = max(self.most[stage], self.now[stage])
        self.news.set()
        try:
            if stage in self.gates:
                await self.gates[stage].wait()
            else:
                await asyncio.sleep(0.001)
        finally:
            self.now[stage] -= 1

    async def until(self, stage, count):
        while self.now[stage] < count:
            self.news.clear()
            await self.news.wait()

    def hooks(self):
        async def init(hook):
            await self.through("init")
            return EmptyWorkspace()

        async def run(hook):
            await self.through("run")
            return "x"

        async def eval(hook):
            await self.through("eval")
            return Reward(1.0)

        return {"init": init, "run": run, "eval": eval}


POOLS = {"init_workers": 3, "run_workers": 2, "eval_workers": 2, "handover": 1}


async def test_no_stage_holds_more_jobs_than_its_pool(service, task):
    watch = Watch()
    async with service(task(**watch.hooks()), **POOLS) as s:
        results = await asyncio.gather(*(s.result() for _ in range(40)))
        assert {result.outcome for result in results} == {"scored"}
        assert watch.most["init"] <= 3 and watch.most["run"] == 2 and watch.most["eval"] <= 2


async def test_run_fills_up_beyond_the_size_of_init(service, task):
    watch = Watch("run")
    async with service(task(**watch.hooks()), init_workers=1, run_workers=9) as s:
        jobs = [s.submit() for _ in range(12)]
        await watch.until("run", 9)
        await s.settle()
        assert s.engine.pools.by_stage["run"].held == 9
        watch.gates["run"].set()
        await asyncio.gather(*(job.done for job in jobs))


async def test_open_sandboxes_cannot_pile_up_before_run(service, task, runtime):
    watch = Watch("run")

    async def init(self, host):
        return await host.open_workspace()

    async with service(task(**{**watch.hooks(), "init": init}), **POOLS) as s:
        jobs = [s.submit() for _ in range(20)]
        await watch.until("run", 2)
        for _ in range(100):
            await asyncio.sleep(0)
        # two in RUN, one handed over, three that hold INIT until there is room behind them
        assert len(runtime.open) <= POOLS["run_workers"] + POOLS["handover"] + POOLS["init_workers"]
        assert s.gateway.status()["queued"] >= 14
        watch.gates["run"].set()
        await asyncio.gather(*(job.done for job in jobs))
    assert runtime.opened == 20


async def test_eval_does_not_hold_up_run(service, task):
    watch = Watch("eval")
    async with service(task(**watch.hooks()), eval_workers=1, run_workers=2) as s:
        jobs = [s.submit() for _ in range(6)]
        while s.engine.pools.by_stage["eval"].waiting < 5:
            await asyncio.sleep(0)
        assert s.engine.pools.by_stage["run"].held == 0 and s.engine.leases.held == 0
        watch.gates["eval"].set()
        await asyncio.gather(*(job.done for job in jobs))


async def test_waiting_for_a_permit_counts_towards_no_budget(service, task):
    async def run(self):
        await asyncio.sleep(0.02)
        return 1

    async with service(task(run=run), run_workers=1, limits={"run_seconds": 0.5, "total_seconds": 0.5}) as s:
        results = await asyncio.gather(*(s.result() for _ in range(12)))
        assert {result.outcome for result in results} == {"scored"}
        slowest = max(results, key=lambda result: result.timing.permit_wait + result.timing.queue_wait)
        assert slowest.timing.permit_wait + slowest.timing.queue_wait > slowest.timing.counted


@pytest.mark.parametrize("sizes", [[8, 1, 8], [2, 9, 1, 3], [1]])
async def test_credit_follows_every_resize_and_is_neither_lost_nor_minted(service, task, sizes):
    from raas_sdk.engine import messages as m

    watch = Watch()
    async with service(task(**watch.hooks()), init_workers=4, idle=False) as s:
        for size in sizes:
            jobs = [s.submit() for _ in range(6)]
            s.gateway._channel.send(m.Resize({"init": size}))
            await asyncio.gather(*(job.done for job in jobs))
            await s.settle()
        for _ in range(20):
            await asyncio.sleep(0)
        assert s.engine.pools.by_stage["init"].size == sizes[-1]
        # what a smaller pool cannot take back was used up by the jobs that came after
        assert s.gateway.credit >= sizes[-1]
        await asyncio.gather(*(s.result() for _ in range(12)))
        await s.settle()
        assert s.gateway.credit == sizes[-1]


async def test_a_drained_engine_asks_for_no_more_jobs(service, task):
    from raas_sdk.engine import messages as m

    watch = Watch()
    async with service(task(**watch.hooks()), init_workers=2) as s:
        s.gateway._channel.send(m.Drain(on=True))
        jobs = [s.submit() for _ in range(5)]
        await asyncio.wait([job.done for job in jobs[:2]])
        for _ in range(50):
            await asyncio.sleep(0)
        assert s.gateway.status()["queued"] == 3
        s.gateway._channel.send(m.Drain(on=False))
        await asyncio.gather(*(job.done for job in jobs))
