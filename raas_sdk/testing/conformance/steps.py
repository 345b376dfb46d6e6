"""How long a plugin keeps the event loop to itself: every step of its coroutines is timed, an endless one is ended."""

import os
import signal
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

__all__ = ["BLOCKED_SECONDS", "BlockedStep", "LoopBlocked", "StepClock", "Stepped"]

BLOCKED_SECONDS = 0.2
TICK_SECONDS = 0.05
KICK = signal.SIGVTALRM
STDLIB = sysconfig.get_path("stdlib")


class LoopBlocked(BaseException):
    """Ends a step that never returns to the event loop; no Exception, so that the plugin's own handlers let it pass."""


@dataclass(slots=True)
class BlockedStep:
    """A step that took too long: the hook, for how long, and where it was seen."""

    hook: str
    began: float
    seconds: float = 0.0
    place: str | None = None
    ended_by_force: bool = False


class StepClock:
    """Times steps; time in which the machine ran something else does not count.

    In the main thread a step longer than `stuck_seconds` is ended with LoopBlocked, through a signal.
    """

    def __init__(self, stuck_seconds: float) -> None:
        self.blocked: list[BlockedStep] = []
        self._stuck_seconds = stuck_seconds
        self._current: BlockedStep | None = None
        self._schedule: int | None = None
        self._over = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch steps for the time inside."""
        try:
            self._schedule = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self._schedule = None
        try:
            if threading.current_thread() is threading.main_thread():
                with self._kicking():
                    yield
            else:
                yield
        finally:
            if self._schedule is not None:
                os.close(self._schedule)

    def repeated(self) -> set[str]:
        """The hooks that blocked more than once, or were ended by force."""
        counts = Counter(step.hook for step in self.blocked)
        forced = {step.hook for step in self.blocked if step.ended_by_force}
        return forced | {hook for hook, count in counts.items() if count > 1}

    @contextmanager
    def step(self, hook: str) -> Iterator[None]:
        """Time what happens inside."""
        step = BlockedStep(hook, time.monotonic())
        waited = self._waited()
        outer, self._current = self._current, step
        try:
            yield
        finally:
            self._current = outer
            step.seconds = time.monotonic() - step.began
            if step.seconds > BLOCKED_SECONDS and step.seconds - (self._waited() - waited) > BLOCKED_SECONDS:
                self.blocked.append(step)

    @contextmanager
    def _kicking(self) -> Iterator[None]:
        before = signal.signal(KICK, self._kicked)
        watch = threading.Thread(target=self._watch, args=(threading.get_ident(),), name="raas-check-steps")
        watch.start()
        try:
            yield
        finally:
            self._over.set()
            watch.join()
            signal.signal(KICK, before)

    def _watch(self, thread: int) -> None:
        while not self._over.wait(TICK_SECONDS):
            step = self._current
            if step is None:
                continue
            age = time.monotonic() - step.began
            if age > self._stuck_seconds or (age > BLOCKED_SECONDS and step.place is None):
                signal.pthread_kill(thread, KICK)

    def _kicked(self, number: int, frame: FrameType | None) -> None:
        step = self._current
        if step is None:
            return
        step.place = step.place or _place(frame)
        if time.monotonic() - step.began > self._stuck_seconds:
            step.ended_by_force = True
            raise LoopBlocked(f"{step.hook} did not return to the event loop within {self._stuck_seconds:g} s")

    def _waited(self) -> float:
        """Seconds for which this thread was ready, but the machine ran others."""
        if self._schedule is None:
            return 0.0
        return int(os.pread(self._schedule, 64, 0).split()[1]) / 1e9


class Stepped:
    """Awaits `work` step by step under a clock; `suspended` hears of every time it waits for something."""

    def __init__(self, work: Awaitable[Any], clock: StepClock, hook: str, suspended: Callable[[], None]) -> None:
        self._work = work.__await__()
        self._clock = clock
        self._hook = hook
        self._suspended = suspended

    def __await__(self) -> Generator[Any, Any, Any]:
        return self

    def __iter__(self) -> "Stepped":
        return self

    def __next__(self) -> Any:
        return self._stepped(lambda: next(self._work))

    def send(self, value: Any) -> Any:
        """Go on."""
        return self._stepped(lambda: self._generator().send(value))

    def throw(self, *error: Any) -> Any:
        """Go on with an exception."""
        return self._stepped(lambda: self._generator().throw(*error))

    def close(self) -> None:
        """Give up."""
        self._generator().close()

    def _stepped(self, step: Callable[[], Any]) -> Any:
        with self._clock.step(self._hook):
            waited_for = step()
        self._suspended()
        return waited_for

    def _generator(self) -> Generator[Any, Any, Any]:
        return self._work


def _place(frame: FrameType | None) -> str | None:
    """File, line and function of the innermost frame outside the standard library."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(("<", STDLIB)) or "site-packages" in name:
            return f"{os.path.basename(name)}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return None
