"""Stage pools: how many jobs may be in INIT, RUN and EVAL at once, and the bounded hand-over between the first two."""

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

from raas_sdk.job import Stage

__all__ = ["Hold", "Permits", "StagePools"]


class Hold:
    """A holder of at most one permit. `with` gives back what was taken; `async with` takes it as well."""

    __slots__ = ("_permits", "held")

    def __init__(self, permits: "Permits") -> None:
        self._permits = permits
        self.held = False

    def take_now(self) -> bool:
        """Take the permit if one is free and nobody waits for it; return whether it is held."""
        self.held = self.held or self._permits.take_now()
        return self.held

    async def take(self) -> None:
        """Take the permit, waiting in line."""
        await self._permits.take()
        self.held = True

    def give(self) -> None:
        """Give it back; does nothing if it is not held."""
        if self.held:
            self.held = False
            self._permits.give()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give()

    async def __aenter__(self) -> Self:
        await self.take()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give()


class Permits:
    """A resizable counter handed out first come, first served; what is taken is given back exactly once."""

    __slots__ = ("_waiters", "held", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.held = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def free(self) -> int:
        """How many could be taken now."""
        return max(0, self.size - self.held)

    @property
    def waiting(self) -> int:
        """How many are queued."""
        return sum(1 for waiter in self._waiters if not waiter.done())

    def take_now(self) -> bool:
        """Take one if it is free and nobody waits for it; return whether it was taken."""
        if self.held < self.size and not self._waiters:
            self.held += 1
            return True
        return False

    async def take(self) -> None:
        """Take one, waiting in line; a cancelled wait takes nothing."""
        if self.take_now():
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Give one back."""
        self.held -= 1
        self._wake()

    def resize(self, size: int) -> None:
        """Change the size; holders beyond it keep theirs until they are done."""
        self.size = size
        self._wake()

    def hold(self) -> Hold:
        """What takes one and gives it back on every path."""
        return Hold(self)

    def _wake(self) -> None:
        while self._waiters and self.held < self.size:
            waiter = self._waiters.popleft()
            if not waiter.done():
                self.held += 1
                waiter.set_result(None)


class StagePools:
    """The permits of one engine."""

    def __init__(self, *, init: int, run: int, eval_: int, handover: int) -> None:
        self.by_stage = {Stage.INIT: Permits(init), Stage.RUN: Permits(run), Stage.EVAL: Permits(eval_)}
        self.handover = Permits(handover)

    def __getitem__(self, stage: Stage) -> Permits:
        return self.by_stage[stage]

    def resize(self, sizes: dict[Stage, int]) -> None:
        """Change pool sizes while jobs run."""
        for stage, size in sizes.items():
            self.by_stage[stage].resize(size)
