"""Whether the event loop stands still, for how long, and in whose hook."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

__all__ = ["LoopLag", "LoopWatch"]

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1
BEAT_SECONDS = 1.0
BLOCKED_SECONDS = 0.5
"""From when on a loop that stands still is a fault whose author is looked for."""


@dataclass(frozen=True, slots=True)
class LoopLag:
    """The longest that the loop stood still since the last report, and who held it when that was long."""

    seconds: float
    blocked_by: str | None = None


class LoopWatch:
    """Reports once a `beat_seconds` while it is open. A thread looks at the running task when the loop stands still."""

    def __init__(self, report: Callable[[LoopLag], None], *, beat_seconds: float = BEAT_SECONDS) -> None:
        self._report = report
        self._beat_seconds = beat_seconds
        self._loop = asyncio.get_running_loop()
        self._ticked = self._reported = time.monotonic()
        self._longest = 0.0
        self._suspect: str | None = None
        self._blocked_by: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="raas-loop-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._ended.set()
        self._thread.join()

    def _tick(self) -> None:
        now = time.monotonic()
        lag = max(0.0, now - self._ticked - TICK_SECONDS)
        self._ticked = now
        suspect, self._suspect = self._suspect, None
        if lag > self._longest:
            self._longest, self._blocked_by = lag, suspect if lag >= BLOCKED_SECONDS else None
        if suspect is not None and lag >= BLOCKED_SECONDS:
            log.error("the event loop was blocked", extra={"seconds": round(lag, 2), "blocked_by": suspect})
        if now - self._reported >= self._beat_seconds:
            self._beat(now)
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    def _beat(self, now: float) -> None:
        lag, self._reported = LoopLag(self._longest, self._blocked_by), now
        self._longest, self._blocked_by = 0.0, None
        self._report(lag)

    def _look(self) -> None:
        while not self._ended.wait(BLOCKED_SECONDS / 2):
            if self._suspect is None and time.monotonic() - self._ticked > TICK_SECONDS + BLOCKED_SECONDS / 2:
                self._suspect = _running(self._loop)


def _running(loop: asyncio.AbstractEventLoop) -> str:
    task: asyncio.Task[Any] | None = asyncio.current_task(loop)
    return "a callback of the event loop" if task is None else task.get_name()
