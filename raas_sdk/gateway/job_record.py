"""What the gateway knows of each job, live and finished."""

import asyncio
import itertools
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from raas_sdk.errors import JobConflict
from raas_sdk.gateway.admission import Submission
from raas_sdk.job import Job
from raas_sdk.result import Outcome, Result

__all__ = ["JobRecord", "JobRecords"]


@dataclass(slots=True, eq=False)
class JobRecord:
    """One accepted job. `stage` is queued, init, run, eval or finished; `state` waiting, running or done."""

    job: Job
    body_digest: str
    stage: str = "queued"
    state: str = "waiting"
    turns: int = 0
    accepted_at: float = field(default_factory=time.time)
    since: float = field(default_factory=time.monotonic)
    result: Result | None = None
    _waits: "tuple[asyncio.Future[Result], ...]" = ()

    @property
    def done(self) -> "asyncio.Future[Result]":
        """A future of the result, one for each waiter: cancelling it ends that wait and nothing else."""
        wait: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        if self.result is None:
            self._waits = (*(each for each in self._waits if not each.done()), wait) if self._waits else (wait,)
        else:
            wait.set_result(self.result)
        return wait

    def finish(self, result: Result) -> None:
        """Give every waiter the job's one result."""
        self.moved("finished", "done")
        self.result = result
        for wait in self._waits:
            if not wait.done():
                wait.set_result(result)
        self._waits = ()

    def moved(self, stage: str, state: str) -> None:
        """Note where the job is now."""
        self.stage, self.state, self.since = stage, state, time.monotonic()


class JobRecords:
    """Live jobs by id, and the last `keep` finished ones."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self.live: dict[str, JobRecord] = {}
        self.finished: OrderedDict[str, JobRecord] = OrderedDict()
        self.finished_total = 0
        self._serials = itertools.count(1)

    def get(self, job_id: str) -> JobRecord | None:
        """A live or remembered job."""
        return self.live.get(job_id) or self.finished.get(job_id)

    def current(self, job_id: str, serial: int) -> JobRecord | None:
        """The live job of that name, if it is that one and no later one."""
        record = self.live.get(job_id)
        return record if record is not None and record.job.serial == serial else None

    def same(self, submission: Submission) -> JobRecord | None:
        """The job this request already is; raise JobConflict if the id belongs to another body.

        A cancelled job does not count: its name is free again.
        """
        job_id = submission.job.job_id
        known = self.get(job_id)
        if known is None or (known.result is not None and known.result.outcome is Outcome.CANCELLED):
            return None
        if known.body_digest != submission.body_digest:
            raise JobConflict(f"job_id {job_id!r} belongs to a job with another body; send another job_id")
        return known

    def add(self, submission: Submission) -> JobRecord:
        """Note an accepted job."""
        job = replace(submission.job, serial=next(self._serials))
        record = JobRecord(job, submission.body_digest)
        self.finished.pop(submission.job.job_id, None)
        self.live[submission.job.job_id] = record
        return record

    def finish(self, job_id: str, result: Result) -> JobRecord | None:
        """End a live job with its one result; None if it is not live (any more)."""
        record = self.live.pop(job_id, None)
        if record is None:
            return None
        record.finish(result)
        self.finished[job_id] = record
        self.finished_total += 1
        while len(self.finished) > self._keep:
            self.finished.popitem(last=False)
        return record
