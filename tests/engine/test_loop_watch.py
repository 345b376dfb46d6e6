"""A loop that stands still is reported, with the hook that held it."""

import asyncio
import time

from raas_sdk.engine.loop_watch import LoopWatch


async def test_the_task_that_blocks_the_loop_is_named():
    lags = asyncio.Queue()

    async def block():
        time.sleep(1.2)

    with LoopWatch(lags.put_nowait, beat_seconds=0.2):
        await asyncio.create_task(block(), name="raas_run of plugin 'slow'")
        while (lag := await lags.get()).blocked_by is None:
            continue
    assert lag.blocked_by == "raas_run of plugin 'slow'" and lag.seconds >= 0.5


async def test_a_loop_that_moves_has_nobody_to_blame():
    lags = asyncio.Queue()
    with LoopWatch(lags.put_nowait, beat_seconds=0.2):
        assert (await lags.get()).blocked_by is None


async def test_the_status_names_the_plugin_whose_hook_blocked_the_loop(service, task):
    async def run(self):
        time.sleep(1.2)

    async with service(task(run=run)) as s:
        assert (await s.result("j")).outcome == "scored"
        while (blocked := s.gateway.status()["engines"][0]["blocked"]) is None:
            await asyncio.sleep(0.02)
        assert blocked["by"] == "raas_run of plugin 'task' (job 'j')" and blocked["seconds"] >= 0.5
