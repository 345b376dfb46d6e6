import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from raas_sdk.engine.permits import Permits


class PermitsMachine(RuleBasedStateMachine):
    """Any interleaving of takers, cancels, givers and resizes, against a queue kept by hand."""

    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.permits = Permits(2)
        self.waiting, self.holding, self.granted = [], [], []

    def turn(self):
        for _ in range(5):
            self.loop.run_until_complete(asyncio.sleep(0))

    def grant(self):
        while self.waiting and len(self.holding) < self.permits.size:
            self.holding.append(self.waiting.pop(0))

    async def taker(self, number):
        await self.permits.take()
        self.granted.append(number)

    @rule()
    def take(self):
        number = len(self.granted) + len(self.waiting)
        self.waiting.append(self.loop.create_task(self.taker(number)))
        self.grant()
        self.turn()

    @precondition(lambda self: self.holding)
    @rule(data=st.data())
    def give(self, data):
        self.holding.remove(data.draw(st.sampled_from(self.holding)))
        self.permits.give()
        self.grant()
        self.turn()

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def cancel_one_that_waits(self, data):
        task = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(task)
        task.cancel()
        self.turn()

    @precondition(lambda self: self.waiting and self.holding)
    @rule()
    def cancel_one_in_the_moment_it_is_granted(self):
        task = self.waiting.pop(0)
        self.holding.pop()
        self.permits.give()
        task.cancel()
        self.grant()
        self.turn()

    @rule(size=st.integers(0, 4))
    def resize(self, size):
        self.permits.resize(size)
        self.grant()
        self.turn()

    @invariant()
    def what_is_taken_is_what_is_held(self):
        assert self.permits.held == len(self.holding)
        assert self.permits.waiting == len(self.waiting)
        assert all(task.done() and not task.cancelled() for task in self.holding)
        assert not any(task.done() for task in self.waiting)

    @invariant()
    def nobody_waits_while_one_is_free(self):
        assert not (self.waiting and self.permits.free)

    def teardown(self):
        for task in self.waiting:
            task.cancel()
        self.turn()
        self.loop.close()


PermitsMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestPermits = PermitsMachine.TestCase


async def test_permits_go_to_those_who_came_first():
    permits, order = Permits(1), []

    async def take(name):
        async with permits.hold():
            order.append(name)

    await permits.take()
    takers = [asyncio.create_task(take(name)) for name in range(20)]
    await asyncio.sleep(0)
    permits.give()
    await asyncio.gather(*takers)
    assert order == list(range(20)) and permits.held == 0


async def test_a_newcomer_does_not_overtake_who_waits():
    permits = Permits(1)
    await permits.take()
    first = asyncio.create_task(permits.take())
    await asyncio.sleep(0)
    permits.give()
    second = asyncio.create_task(permits.take())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert first.done() and not second.done()
    second.cancel()


async def test_a_permit_is_given_back_when_its_holder_raises():
    permits = Permits(1)
    with pytest.raises(ValueError):
        async with permits.hold():
            raise ValueError
    assert permits.held == 0


async def test_holders_beyond_a_smaller_size_keep_theirs():
    permits = Permits(3)
    for _ in range(3):
        await permits.take()
    permits.resize(1)
    waiter = asyncio.create_task(permits.take())
    for _ in range(2):
        permits.give()
        await asyncio.sleep(0)
        assert not waiter.done()
    permits.give()
    await waiter
    assert permits.held == 1
