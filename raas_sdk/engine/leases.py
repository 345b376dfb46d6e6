"""The engine's side of backend leases: ask the gateway, hold, follow changes, give back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields
from operator import attrgetter
from types import TracebackType

from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.messages import LeaseChanged, LeaseGranted, LeaseMove, LeaseRelease, LeaseRequest
from raas_sdk.engine.transport import Channel
from raas_sdk.errors import NoBackend
from raas_sdk.job import Job

__all__ = ["HeldLease", "LeaseBroker", "target_to_wire"]


class HeldLease:
    """Where a job samples now. `target` may change between turns."""

    def __init__(self, target: BackendTarget, move: Callable[[str], Awaitable[BackendTarget | None]]) -> None:
        self.target = target
        self._move = move

    async def move(self, fault: str) -> bool:
        """Go to another backend of the same version, since this one gives no answer; False if there is none."""
        target = await self._move(fault)
        self.target = target or self.target
        return target is not None


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

    def hold(self, job: Job) -> "LeaseHold":
        """Hold a lease for the time inside `async with`; raise NoBackend if none can be had."""
        return LeaseHold(self, job)

    async def take(self, job: Job) -> HeldLease:
        """Ask for a lease and wait for it; whatever comes, `give` must follow."""
        granted = await self._ask(LeaseRequest(job.job_id, job.attempt, job.pool))
        if granted.target is None:
            raise NoBackend(f"no backend for job {job.job_id!r}: {granted.reason}", retryable=False)
        lease = HeldLease(BackendTarget(**granted.target), lambda fault: self._moved(job, fault))
        self._held[job.job_id] = lease
        return lease

    def give(self, job: Job) -> None:
        """Give a lease back, or take back the request for it."""
        self._held.pop(job.job_id, None)
        self._channel.send(LeaseRelease(job.job_id, job.attempt))

    async def _ask(self, message: LeaseRequest | LeaseMove) -> LeaseGranted:
        answer: asyncio.Future[LeaseGranted] = asyncio.get_running_loop().create_future()
        self._asked[message.job_id] = answer
        self._channel.send(message)
        try:
            return await answer
        finally:
            self._asked.pop(message.job_id, None)

    async def _moved(self, job: Job, fault: str) -> BackendTarget | None:
        granted = await self._ask(LeaseMove(job.job_id, job.attempt, fault[:1000]))
        return None if granted.target is None else BackendTarget(**granted.target)

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


class LeaseHold:
    """Takes a lease and gives it back on every path."""

    __slots__ = ("_broker", "_job")

    def __init__(self, broker: LeaseBroker, job: Job) -> None:
        self._broker = broker
        self._job = job

    async def __aenter__(self) -> HeldLease:
        lease = None
        try:
            lease = await self._broker.take(self._job)
            return lease
        finally:
            if lease is None:
                self._broker.give(self._job)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._broker.give(self._job)


TARGET_FIELDS = tuple(item.name for item in fields(BackendTarget))
TARGET_VALUES = attrgetter(*TARGET_FIELDS)


def target_to_wire(target: BackendTarget) -> dict[str, object]:
    """A target as plain data."""
    return dict(zip(TARGET_FIELDS, TARGET_VALUES(target), strict=True))
