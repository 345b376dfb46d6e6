"""The jobs that run on an engine now."""

import asyncio
from dataclasses import dataclass, field

from raas_sdk.engine.runner import Runner
from raas_sdk.result import Result

__all__ = ["JobTable", "RunningJob"]


@dataclass(slots=True)
class RunningJob:
    """A job in progress. `cancelled`: its end was asked for; `in_init`: it still holds the gateway's credit."""

    runner: Runner
    task: "asyncio.Task[None] | None" = None
    started: bool = False
    cancelled: bool = False
    in_init: bool = True


@dataclass(slots=True)
class JobTable:
    """Running jobs, and results whose arrival is not confirmed yet."""

    running: dict[str, RunningJob] = field(default_factory=dict)
    unconfirmed: dict[str, Result] = field(default_factory=dict)

    def cancel(self, job_id: str) -> bool:
        """Ask a running job to end; return whether there was one."""
        entry = self.running.get(job_id)
        if entry is None or entry.task is None:
            return False
        if entry.cancelled:
            return True
        entry.cancelled = True
        if entry.started:
            entry.task.cancel()
        return True
