"""Time that counts: a pausable countdown for one stage, and the sums of a whole job."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from raas_sdk.engine.deadlines import Deadline, Deadlines
from raas_sdk.job import Stage
from raas_sdk.limits import Limits
from raas_sdk.result import Timing

__all__ = ["Countdown", "JobClock"]


class Countdown:
    """Calls `expire` once when `budget_seconds` of unpaused monotonic time are over."""

    __slots__ = ("_deadlines", "_expire", "_handle", "_resumed_at", "_used", "budget_seconds")

    def __init__(
        self, budget_seconds: float | None, expire: Callable[[], None], deadlines: Deadlines | None = None
    ) -> None:
        self.budget_seconds = budget_seconds
        self._expire = expire
        self._deadlines = deadlines or Deadlines()
        self._used = 0.0
        self._resumed_at: float | None = None
        self._handle: Deadline | None = None

    @property
    def elapsed(self) -> float:
        """Seconds that counted so far."""
        running = 0.0 if self._resumed_at is None else time.monotonic() - self._resumed_at
        return self._used + running

    def resume(self) -> None:
        """Let time count (again)."""
        if self._resumed_at is None:
            self._resumed_at = time.monotonic()
            self._arm()

    def pause(self) -> None:
        """Stop counting; the countdown cannot expire while paused."""
        if self._resumed_at is not None:
            self._used = self.elapsed
            self._resumed_at = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def end(self) -> None:
        """Stop counting for good and let go of `expire`, which usually belongs to whoever holds this."""
        self.pause()
        self._expire = _nothing

    def _arm(self) -> None:
        if self.budget_seconds is not None:
            left = max(0.0, self.budget_seconds - self._used)
            self._handle = self._deadlines.call_later(left, self._expire)


def _nothing() -> None:
    """What happens when a countdown that has ended would expire."""


class Waiting:
    """Adds the time inside `with`, or from `begin` to `end`, to a sum."""

    __slots__ = ("_began", "_sums", "_what")

    def __init__(self, sums: dict[str, float], what: str) -> None:
        self._sums = sums
        self._what = what
        self._began: float | None = None

    def begin(self) -> None:
        """From now on it counts."""
        self._began = time.monotonic()

    def end(self) -> None:
        """The wait is over; does nothing if it was."""
        if self._began is not None:
            self._sums[self._what] = self._sums.get(self._what, 0.0) + time.monotonic() - self._began
            self._began = None

    def __enter__(self) -> None:
        self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()


@dataclass(slots=True)
class JobClock:
    """What a job has used. Only INIT, RUN and EVAL count towards budgets; waits are kept beside them.

    `queue_wait` is over already; `accepted_at` is on the calendar, for the record.
    """

    limits: Limits
    queue_wait: float = 0.0
    accepted_at: float | None = None
    counted: dict[Stage, float] = field(default_factory=lambda: {Stage.INIT: 0.0, Stage.RUN: 0.0, Stage.EVAL: 0.0})
    waited: dict[str, float] = field(default_factory=dict)
    started_at: float = field(default_factory=time.monotonic)

    def budget(self, stage: Stage) -> float | None:
        """Seconds left for this stage: its own budget, cut by what is left of the total."""
        limits = self.limits
        own = {"init": limits.init_seconds, "run": limits.run_seconds, "eval": limits.eval_seconds}[stage]
        if limits.total_seconds is None:
            return own
        left = self.left()
        return left if own is None or left is None else min(own, left)

    def left(self) -> float | None:
        """Seconds left of the job's total; None if it has none."""
        total = self.limits.total_seconds
        return None if total is None else max(0.0, total - sum(self.counted.values()))

    def waiting(self, what: str) -> "Waiting":
        """Add the time spent inside `with` to the wait `what` (permit, lease)."""
        return Waiting(self.waited, what)

    def timing(self, *, model_seconds: float) -> Timing:
        """The record of all of it."""
        return Timing(
            init=self.counted[Stage.INIT],
            run=self.counted[Stage.RUN],
            eval=self.counted[Stage.EVAL],
            queue_wait=self.queue_wait,
            permit_wait=self.waited.get("permit", 0.0),
            lease_wait=self.waited.get("lease", 0.0),
            model=model_seconds,
            total=self.queue_wait + time.monotonic() - self.started_at,
            accepted_at=self.accepted_at,
        )
