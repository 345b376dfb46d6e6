"""Running foreign coroutines so that they cannot hurt the engine: contained, bounded, really stopped."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from raas_sdk.engine.clock import Countdown
from raas_sdk.engine.deadlines import Deadlines
from raas_sdk.errors import PluginFault, StageTimeout

__all__ = ["Supervisor"]

log = logging.getLogger(__name__)


class Supervisor:
    """One stage of one job: runs the plugin's coroutine as a task of its own, with a countdown.

    `soften`, if given, is called when the budget is over and has `collect_seconds` to make the coroutine
    return by itself; after that, or at once without it, the coroutine is cancelled and gets `grace_seconds`
    to clean up. One that ignores its cancel is left behind, counted and logged.
    """

    __slots__ = (
        "_collect_seconds",
        "_done",
        "_grace_seconds",
        "_late",
        "_pauses",
        "_soften",
        "_task",
        "_work",
        "abandoned",
        "countdown",
        "expired",
        "stage",
    )

    def __init__(
        self,
        stage: str,
        budget_seconds: float | None,
        *,
        grace_seconds: float = 5.0,
        deadlines: Deadlines | None = None,
    ) -> None:
        self.stage = stage
        self.expired = False
        self.abandoned = False
        self.countdown = Countdown(budget_seconds, self._budget_over, deadlines)
        self._grace_seconds = grace_seconds
        self._soften: Callable[[], None] | None = None
        self._collect_seconds = 0.0
        self._task: asyncio.Task[Any] | None = None
        self._work: Coroutine[Any, Any, Any] | None = None
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._late: asyncio.TimerHandle | None = None
        self._pauses = 0

    @property
    def task(self) -> "asyncio.Task[Any] | None":
        """What runs the work, also after it was left behind."""
        return self._task

    @contextmanager
    def paused(self) -> Iterator[bool]:
        """Let no time count inside; gives whether this is the outermost of several at once."""
        self._pauses += 1
        self.countdown.pause()
        try:
            yield self._pauses == 1
        finally:
            self._pauses -= 1
            if not self._pauses and not self._done.done():
                self.countdown.resume()

    def soft_end(self, soften: Callable[[], None], *, collect_seconds: float) -> None:
        """Ask politely first when the budget is over."""
        self._soften, self._collect_seconds = soften, collect_seconds

    async def run(self, work: Coroutine[Any, Any, Any], *, name: str | None = None) -> Any:
        """Return what `work` returns; raise what it raises, StageTimeout, or the caller's own cancel.

        `name` is its task's, which tells whose hook blocks the event loop.
        """
        self._work = work
        self._task = asyncio.get_running_loop().create_task(_contained(work), name=name)
        self._task.add_done_callback(self._finished)
        self.countdown.resume()
        try:
            await self._done
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            self.countdown.end()
            if self._late is not None:
                self._late.cancel()
        return self._outcome()

    def _outcome(self) -> Any:
        task = self._task
        assert task is not None
        if self.expired or not task.done():
            fault = StageTimeout(self.stage, self.countdown.budget_seconds or 0.0)
            raise fault from (task.exception() if task.done() and not task.cancelled() else None)
        if task.cancelled():
            raise PluginFault(f"stage {self.stage!r} raised CancelledError by itself", code="raised_cancelled")
        error = task.exception()
        if error is not None and not isinstance(error, Exception):
            raise PluginFault(f"stage {self.stage!r} raised {type(error).__name__}", code="raised_exit") from error
        return task.result()

    async def _stop(self) -> None:
        task = self._task
        assert task is not None
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=self._grace_seconds)
        if not done:
            self._abandon()

    def _budget_over(self) -> None:
        if self._soften is None or (self._task is not None and self._task.done()):
            self._expire()
            return
        self._soften()
        self._late = asyncio.get_running_loop().call_later(self._collect_seconds, self._expire)

    def _expire(self) -> None:
        assert self._task is not None
        if self._task.done():
            return
        self.expired = True
        self._task.cancel()
        self._late = asyncio.get_running_loop().call_later(self._grace_seconds, self._abandon)

    def _abandon(self) -> None:
        self.abandoned = True
        log.error("a plugin ignores its cancel and was left behind", extra={"stage": self.stage})
        if not self._done.done():
            self._done.set_result(None)

    def _finished(self, task: "asyncio.Task[Any]") -> None:
        if self._work is not None:
            self._work.close()  # cancelled before its first step, it would be reported as never awaited
            self._work = None
        if not self._done.done():
            self._done.set_result(None)
        elif not task.cancelled():
            task.exception()


async def _contained(work: Coroutine[Any, Any, Any]) -> Any:
    """Turn what would tear down the event loop into an ordinary fault."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise PluginFault(f"the plugin raised {type(error).__name__}({error})", code="raised_exit") from error
