import asyncio

import pytest

from raas_sdk.engine.deadlines import Deadlines


@pytest.fixture
async def deadlines():
    made = Deadlines()
    yield made
    made.close()


async def test_deadlines_are_called_in_their_order_whatever_the_order_they_came_in(deadlines):
    called, last = [], asyncio.Event()
    for name, seconds in (("c", 0.03), ("a", 0.01), ("b", 0.02)):
        deadlines.call_later(seconds, lambda name=name: called.append(name))
    deadlines.call_later(0.04, last.set)
    await last.wait()
    assert called == ["a", "b", "c"]


async def test_a_cancelled_deadline_is_not_called_and_those_behind_it_are(deadlines):
    called, last = [], asyncio.Event()
    first = deadlines.call_later(0.005, lambda: called.append("first"))
    deadlines.call_later(0.02, last.set)
    first.cancel()
    first.cancel()
    await last.wait()
    assert called == []


async def test_a_call_may_cancel_one_that_is_due_at_the_same_time(deadlines):
    called, last = [], asyncio.Event()
    victims = []
    deadlines.call_later(0.0, lambda: victims[0].cancel())
    victims.append(deadlines.call_later(0.0, lambda: called.append("victim")))
    deadlines.call_later(0.01, last.set)
    await last.wait()
    assert called == []


async def test_a_call_may_add_another(deadlines):
    done = asyncio.Event()
    deadlines.call_later(0.001, lambda: deadlines.call_later(0.001, done.set))
    await done.wait()


async def test_a_call_that_raises_holds_up_no_other(deadlines):
    faults, done = [], asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["exception"]))
    deadlines.call_later(0.0, lambda: 1 / 0)
    deadlines.call_later(0.0, done.set)
    await done.wait()
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


async def test_after_close_nothing_is_called(deadlines):
    called = []
    deadlines.call_later(0.005, lambda: called.append(1))
    deadlines.close()
    await asyncio.sleep(0.02)
    assert called == []
