"""What the gateway knows of an engine from its heartbeats and answers."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.engine.messages import Heartbeat, JobGone, JobResult

__all__ = ["EngineView"]


@dataclass(slots=True)
class EngineView:
    """`cleaning` holds jobs that were answered and still hold something there; `tidy` is set while there are none."""

    name: str = ""
    beat: Heartbeat = field(default_factory=lambda: Heartbeat(0.0))
    heard_at: float = field(default_factory=time.monotonic)
    blocked: Heartbeat | None = None
    blocked_at: float = 0.0
    cleaning: set[tuple[str, int]] = field(default_factory=set)
    tidy: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.tidy.set()

    def heard(self, beat: Heartbeat) -> None:
        """Note a heartbeat."""
        self.beat, self.heard_at = beat, time.monotonic()
        if beat.blocked_by is not None:
            self.blocked, self.blocked_at = beat, self.heard_at

    def answered(self, message: JobResult) -> None:
        """Note whether the job still holds something."""
        if message.cleaning:
            self.cleaning.add((message.job_id, message.serial))
            self.tidy.clear()

    def gone(self, message: JobGone) -> None:
        """Note that it does no more."""
        self.cleaning.discard((message.job_id, message.serial))
        if not self.cleaning:
            self.tidy.set()

    def to_wire(self) -> dict[str, Any]:
        """The view as plain data; `blocked` is the last time its event loop stood still for long."""
        now = time.monotonic()
        return {
            "name": self.name,
            "heard_seconds_ago": now - self.heard_at,
            "loop_lag_seconds": self.beat.loop_lag,
            "left_behind": self.beat.left_behind,
            "cleaning": len(self.cleaning),
            "blocked": None
            if self.blocked is None
            else {
                "by": self.blocked.blocked_by,
                "seconds": self.blocked.loop_lag,
                "seconds_ago": now - self.blocked_at,
            },
        }
