import asyncio

import pytest

from raas_sdk import PluginFault
from raas_sdk.engine.supervision import Supervisor
from raas_sdk.errors import StageTimeout


async def test_what_the_work_returns_is_returned_and_what_it_raises_is_raised():
    async def work(error):
        await asyncio.sleep(0)
        if error:
            raise error
        return 3

    assert await Supervisor("run", None).run(work(None)) == 3
    with pytest.raises(KeyError):
        await Supervisor("run", None).run(work(KeyError("k")))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SystemExit(2), "raised_exit"),
        (KeyboardInterrupt(), "raised_exit"),
        (asyncio.CancelledError(), "raised_cancelled"),
        (GeneratorExit(), "raised_exit"),
        (BaseException("odd"), "raised_exit"),
        (BaseExceptionGroup("g", [KeyboardInterrupt()]), "raised_exit"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
async def test_what_would_tear_down_the_loop_is_the_plugins_fault(error, code, at_once):
    async def work():
        if not at_once:
            await asyncio.sleep(0)
        raise error

    with pytest.raises(PluginFault) as caught:
        await Supervisor("run", None).run(work())
    assert caught.value.code == code


async def test_the_hard_end_cancels_the_work():
    cancelled = asyncio.Event()

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(StageTimeout, match=r"'eval'.*0\.01 s"):
        await Supervisor("eval", 0.01).run(work())
    assert cancelled.is_set()


async def test_what_the_work_raises_on_its_way_out_is_the_timeouts_cause():
    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise OSError("half written") from None

    with pytest.raises(StageTimeout) as caught:
        await Supervisor("run", 0.01).run(work())
    assert isinstance(caught.value.__cause__, OSError)


async def test_work_that_returns_after_the_hard_end_is_a_timeout_all_the_same():
    async def work():
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "late"

    with pytest.raises(StageTimeout):
        await Supervisor("run", 0.01).run(work())


async def test_work_that_ignores_its_cancel_is_left_behind():
    release = asyncio.Event()

    async def work():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    supervisor = Supervisor("run", 0.01, grace_seconds=0.01)
    with pytest.raises(StageTimeout):
        await supervisor.run(work())
    assert supervisor.abandoned
    release.set()
    await asyncio.sleep(0)


async def test_the_soft_end_lets_the_work_hand_in():
    soft = asyncio.Event()

    async def work():
        await soft.wait()
        return "handed in"

    supervisor = Supervisor("run", 0.01)
    supervisor.soft_end(soft.set, collect_seconds=5)
    assert await supervisor.run(work()) == "handed in"
    assert not supervisor.expired


async def test_work_that_does_not_hand_in_after_the_soft_end_is_stopped():
    softened = []
    supervisor = Supervisor("run", 0.01)
    supervisor.soft_end(lambda: softened.append(1), collect_seconds=0.01)
    with pytest.raises(StageTimeout):
        await supervisor.run(asyncio.Event().wait())
    assert softened == [1]


@pytest.mark.parametrize("turns", range(1, 5))
async def test_the_callers_cancel_stops_the_work_at_any_moment(turns):
    started, ended = [], []

    async def work():
        started.append(1)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(1)

    caller = asyncio.create_task(Supervisor("run", None).run(work()))
    for _ in range(turns):
        await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == started


async def test_the_callers_cancel_does_not_wait_for_stubborn_work():
    release = asyncio.Event()

    async def work():
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    supervisor = Supervisor("run", None, grace_seconds=0.01)
    caller = asyncio.create_task(supervisor.run(work()))
    await asyncio.sleep(0.01)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert supervisor.abandoned
    release.set()
    await asyncio.sleep(0)


async def test_time_counts_only_while_the_work_runs():
    supervisor = Supervisor("run", 10)
    await supervisor.run(asyncio.sleep(0.01))
    used = supervisor.countdown.elapsed
    await asyncio.sleep(0.02)
    assert supervisor.countdown.elapsed == used
