import asyncio

import pytest

from raas_sdk import Limits, Stage
from raas_sdk.engine.clock import Countdown, JobClock


async def test_a_countdown_expires_once():
    times = []
    countdown = Countdown(0.01, lambda: times.append(1))
    countdown.resume()
    countdown.resume()
    await asyncio.sleep(0.05)
    assert times == [1]


async def test_a_paused_countdown_neither_counts_nor_expires():
    times = []
    countdown = Countdown(0.01, lambda: times.append(1))
    countdown.resume()
    countdown.pause()
    used = countdown.elapsed
    await asyncio.sleep(0.05)
    assert countdown.elapsed == used and not times


async def test_a_countdown_goes_on_where_it_stopped():
    expired = asyncio.Event()
    countdown = Countdown(0.02, expired.set)
    while not expired.is_set():
        countdown.resume()
        await asyncio.sleep(0.005)
        countdown.pause()
    assert countdown.elapsed >= 0.02


async def test_a_countdown_without_a_budget_never_expires():
    countdown = Countdown(None, lambda: pytest.fail("expired"))
    countdown.resume()
    await asyncio.sleep(0.01)
    countdown.pause()
    assert countdown.elapsed > 0


@pytest.mark.parametrize(
    ("limits", "used", "budget"),
    [
        (Limits(run_seconds=10), 0, 10),
        (Limits(run_seconds=10, total_seconds=100), 95, 5),
        (Limits(run_seconds=10, total_seconds=100), 50, 10),
        (Limits(run_seconds=10, total_seconds=100), 200, 0),
        (Limits(run_seconds=None), 5, None),
        (Limits(run_seconds=None, total_seconds=8), 5, 3),
    ],
)
def test_a_stage_may_use_its_own_budget_and_no_more_than_is_left_of_the_total(limits, used, budget):
    clock = JobClock(limits)
    clock.counted[Stage.INIT] = used
    assert clock.budget(Stage.RUN) == budget


async def test_waiting_is_kept_beside_what_counts():
    clock = JobClock(Limits(total_seconds=1), queue_wait=2.0)
    for _ in range(2):
        with clock.waiting("permit"):
            await asyncio.sleep(0.005)
    timing = clock.timing(model_seconds=0.5)
    assert timing.counted == 0 and timing.permit_wait >= 0.01 and timing.lease_wait == 0
    assert timing.total >= 2.0 + timing.permit_wait
    assert clock.left() == 1
