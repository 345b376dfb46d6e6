"""The engine's side of backend leases: ask the gateway, hold, follow changes, give back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields

from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.messages import LeaseChanged, LeaseGranted, LeaseRelease, LeaseRequest
from raas_sdk.engine.transport import Channel
from raas_sdk.errors import NoBackend
from raas_sdk.job import Job

__all__ = ["HeldLease", "LeaseBroker", "target_to_wire"]


class HeldLease:
    """Where a job samples now. `target` may change between turns."""

    def __init__(self, target: BackendTarget) -> None:
        self.target = target


class LeaseBroker:
    """Requests in flight and leases held, by job."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: dict[str, asyncio.Future[LeaseGranted]] = {}
        self._held: dict[str, HeldLease] = {}

    @property
    def held(self) -> int:
        """How many leases this engine holds."""
        return len(self._held)

    @asynccontextmanager
    async def hold(self, job: Job) -> AsyncIterator[HeldLease]:
        """Hold a lease for the time inside; raise NoBackend if none can be had."""
        answer: asyncio.Future[LeaseGranted] = asyncio.get_running_loop().create_future()
        self._asked[job.job_id] = answer
        self._channel.send(LeaseRequest(job.job_id, job.attempt, job.pool))
        try:
            granted = await answer
            if granted.target is None:
                raise NoBackend(f"no backend for job {job.job_id!r}: {granted.reason}", retryable=False)
            lease = self._held[job.job_id] = HeldLease(BackendTarget(**granted.target))
            yield lease
        finally:
            self._asked.pop(job.job_id, None)
            self._held.pop(job.job_id, None)
            self._channel.send(LeaseRelease(job.job_id, job.attempt))

    def granted(self, message: LeaseGranted) -> None:
        """Take the gateway's answer to its waiter; one nobody waits for any more was released already."""
        answer = self._asked.get(message.job_id)
        if answer is not None and not answer.done():
            answer.set_result(message)

    def changed(self, message: LeaseChanged) -> None:
        """Point a held lease to another target."""
        lease = self._held.get(message.job_id)
        if lease is not None:
            lease.target = BackendTarget(**message.target)


def target_to_wire(target: BackendTarget) -> dict[str, object]:
    """A target as plain data."""
    return {item.name: getattr(target, item.name) for item in fields(target)}
