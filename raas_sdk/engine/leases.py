"""The engine's side of backend leases: ask the gateway, hold, follow changes, give back."""

import asyncio
from dataclasses import fields
from operator import attrgetter
from types import TracebackType

from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.messages import (
    BackendFailed,
    LeaseChanged,
    LeaseGranted,
    LeaseMove,
    LeaseRelease,
    LeaseRequest,
)
from raas_sdk.engine.transport import Channel
from raas_sdk.errors import NoBackend
from raas_sdk.job import Job

__all__ = ["HeldLease", "LeaseBroker", "target_from_wire", "target_to_wire"]

Key = tuple[str, int, int]


class HeldLease:
    """Where a job samples now. `target` may change between turns, and within one where a backend fails."""

    __slots__ = ("_broker", "_job", "_moving", "target")

    def __init__(self, job: Job, target: BackendTarget, broker: "LeaseBroker") -> None:
        self.target = target
        self._job = job
        self._broker = broker
        self._moving: asyncio.Lock | None = None  # made at the first move: few jobs ever need it

    def failed(self, target: BackendTarget, fault: str) -> None:
        """Say that a backend gave no reply, so that others stay away from it."""
        self._broker.report(self._job, target, fault)

    async def move(self, away_from: BackendTarget) -> None:
        """Wait until there is another place to sample, or the same one again.

        Returns at once if the lease is elsewhere by now. Raise NoBackend when none came in time.
        """
        if self._moving is None:
            self._moving = asyncio.Lock()
        async with self._moving:
            if _place(self.target) == _place(away_from):
                self.target = await self._broker.moved(self._job, away_from)


class LeaseBroker:
    """Requests in flight and leases held, by job and attempt."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: dict[Key, asyncio.Future[LeaseGranted]] = {}
        self._held: dict[Key, HeldLease] = {}

    @property
    def held(self) -> int:
        """How many leases this engine holds."""
        return len(self._held)

    def hold(self, job: Job) -> "LeaseHold":
        """Hold a lease for the time inside `async with`; raise NoBackend if none can be had."""
        return LeaseHold(self, job)

    async def take(self, job: Job) -> HeldLease:
        """Ask for a lease and wait for it; whatever comes, `give` must follow."""
        target = await self._ask(LeaseRequest(job.job_id, job.attempt, job.pool, job.serial))
        lease = self._held[_key(job)] = HeldLease(job, target, self)
        return lease

    def give(self, job: Job) -> None:
        """Give a lease back, or take back the request for it."""
        self._held.pop(_key(job), None)
        self._channel.send(LeaseRelease(job.job_id, job.attempt, job.serial))

    async def moved(self, job: Job, away_from: BackendTarget) -> BackendTarget:
        """Ask for another backend."""
        return await self._ask(LeaseMove(job.job_id, job.attempt, *_place(away_from), job.serial))

    def report(self, job: Job, target: BackendTarget, fault: str) -> None:
        """Tell the gateway that a backend failed."""
        self._channel.send(BackendFailed(job.job_id, job.attempt, *_place(target), fault[:1000], job.serial))

    def granted(self, message: LeaseGranted) -> None:
        """Take the gateway's answer to its waiter, or to the lease if the waiter has left."""
        answer = self._asked.get(_key(message))
        if answer is not None and not answer.done():
            answer.set_result(message)
        elif message.target is not None:
            self._point(_key(message), message.target)

    def changed(self, message: LeaseChanged) -> None:
        """Point a held lease to another target."""
        self._point(_key(message), message.target)

    def _point(self, key: Key, target: dict[str, object]) -> None:
        lease = self._held.get(key)
        if lease is not None:
            lease.target = target_from_wire(target)

    async def _ask(self, message: LeaseRequest | LeaseMove) -> BackendTarget:
        key = _key(message)
        answer: asyncio.Future[LeaseGranted] = asyncio.get_running_loop().create_future()
        self._asked[key] = answer
        self._channel.send(message)
        try:
            granted = await answer
        finally:
            del self._asked[key]
        if granted.target is None:
            raise NoBackend(f"no backend for job {message.job_id!r}: {granted.reason}", retryable=False)
        return target_from_wire(granted.target)


def _key(message: Job | LeaseRequest | LeaseMove | LeaseGranted | LeaseChanged) -> Key:
    return message.job_id, message.serial, message.attempt


def _place(target: BackendTarget) -> tuple[str, int]:
    """Which backend, with which weights; its wire may become known meanwhile."""
    return str(target.backend_id), target.epoch


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


def target_from_wire(target: dict[str, object]) -> BackendTarget:
    """The inverse of `target_to_wire`."""
    return BackendTarget(**target)  # type: ignore[arg-type]
