"""The jobs that run on an engine now."""

import asyncio
from dataclasses import dataclass, field

from raas_sdk.engine.messages import Ack, Cancel
from raas_sdk.engine.runner import Runner
from raas_sdk.job import Job
from raas_sdk.result import Result

__all__ = ["JobKey", "JobTable", "RunningJob", "key_of"]

JobKey = tuple[str, int]


def key_of(named: Job | Cancel | Ack) -> JobKey:
    """What tells a job from all others, also from one of the same name."""
    return named.job_id, named.serial


@dataclass(slots=True)
class RunningJob:
    """A job in progress. `cancelled`: it was answered, and ends; `in_init`: it still holds the gateway's credit."""

    runner: Runner
    task: "asyncio.Task[None] | None" = None
    started: bool = False
    cancelled: bool = False
    in_init: bool = True


@dataclass(slots=True)
class JobTable:
    """Running jobs, and results whose arrival is not confirmed yet."""

    running: dict[JobKey, RunningJob] = field(default_factory=dict)
    unconfirmed: dict[JobKey, Result] = field(default_factory=dict)

    def cancel(self, key: JobKey) -> RunningJob | None:
        """Make a running job end; return it, or None if there is none, or none that was not cancelled before."""
        entry = self.running.get(key)
        if entry is None or entry.task is None or entry.cancelled:
            return None
        entry.cancelled = True
        entry.runner.attempt.sample_no_more()
        if entry.started:
            entry.task.cancel()
        return entry
