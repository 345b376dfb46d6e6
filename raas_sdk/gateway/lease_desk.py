"""The gateway's side of backend leases: who holds which, who waits, and who must be told of changes.

A job keeps its backend for its whole rollout. One whose backend fails waits, in its turn, for another with the
same weights or for its own to come back. Other weights it gets only when its own are gone: no registered backend
of the pool serves them any more, or none that does came back within `wait_seconds`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from raas_sdk.backends.backend import Backend
from raas_sdk.backends.lease import Lease
from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.leases import target_to_wire
from raas_sdk.engine.messages import (
    BackendFailed,
    LeaseChanged,
    LeaseGranted,
    LeaseMove,
    LeaseRelease,
    LeaseRequest,
    Message,
)

__all__ = ["LeaseDesk"]

Key = tuple[str, int, int]
Named = LeaseRequest | LeaseMove | LeaseRelease | BackendFailed


@dataclass(slots=True)
class Held:
    """A lease, the target its job was told, and which attempt's it is."""

    lease: Lease
    told: BackendTarget
    attempt: int
    serial: int


@dataclass(slots=True)
class Waiting:
    """A request that no backend could take yet. `version`: the weights a job samples with that lost its backend."""

    request: LeaseRequest | LeaseMove
    pool: str
    version: int | None = None
    timer: asyncio.TimerHandle | None = None

    @property
    def has_begun(self) -> bool:
        """Whether its job has turns already."""
        return isinstance(self.request, LeaseMove)


class LeaseDesk:
    """Grants at once where a backend is usable, else when one comes, else gives up after `wait_seconds`."""

    def __init__(
        self,
        pool: BackendPool,
        send: Callable[[Message], None],
        *,
        wait_seconds: float,
        on_unhealthy: Callable[[BackendTarget], None],
    ) -> None:
        self.pool = pool
        self._send = send
        self._on_unhealthy = on_unhealthy
        self._wait_seconds = wait_seconds
        self._held: dict[Key, Held] = {}
        self._waiting: dict[Key, Waiting] = {}

    @property
    def held(self) -> int:
        """Leases held now."""
        return len(self._held)

    @property
    def waiting(self) -> int:
        """Requests that wait for a backend."""
        return len(self._waiting)

    def request(self, message: LeaseRequest) -> None:
        """Serve an engine's request."""
        self._serve(Waiting(message, message.pool))

    def failed(self, message: BackendFailed) -> None:
        """Keep jobs away from a backend that gives no reply; one that has new weights by now is not meant."""
        held = self._held.get(_key(message))
        if held is not None and _is_meant(held.lease, message) and self.pool.failed(held.lease, message.fault):
            self._on_unhealthy(held.lease.target)

    def move(self, message: LeaseMove) -> None:
        """Lend a job another backend than the one it names, or the same one when it is back."""
        held, waiting = self._held.get(_key(message)), self._waiting.get(_key(message))
        if waiting is not None:
            waiting.request = message
        elif held is None:
            self.refuse(message, "the job holds no lease")
        elif not _is_meant(held.lease, message):
            self._grant_lease(message, held.lease)
        else:
            target = held.lease.target
            del self._held[_key(message)]
            held.lease.release()
            self._serve(Waiting(message, target.pool, target.version))

    def release(self, message: LeaseRelease) -> None:
        """Take a lease back, or forget a request; an unknown one is fine."""
        key = _key(message)
        waiting, held = self._waiting.pop(key, None), self._held.pop(key, None)
        if waiting is not None and waiting.timer is not None:
            waiting.timer.cancel()
        if held is not None:
            held.lease.release()
            self._serve_waiting()  # where its job was the one that tried a backend, another may

    def add(
        self,
        address: str,
        *,
        pool: str = "default",
        wire: str | None = None,
        weight: float | None = None,
        version: int | None = None,
    ) -> Backend:
        """Register a backend; serve who waits, tell who samples there."""
        backend = self.pool.add(address, pool=pool, wire=wire, weight=weight, version=version)
        self.refresh()
        return backend

    def remove(self, backend_id: str) -> None:
        """Take a backend out now; its jobs go on, from their next turn, at others with the same weights.

        Where there is none they keep it as long as it answers.
        """
        gone = frozenset(self.pool.remove(backend_id))
        for key, held in tuple(self._held.items()):
            if held.lease in gone:
                self._replace(key, held)

    def set_version(self, version: int, *, pool: str = "default") -> None:
        """New weights on every backend of the pool."""
        self.pool.set_version(version, pool=pool)
        self.refresh()

    def refresh(self) -> None:
        """After any change of the pool: tell holders their new target, serve who waits."""
        for key, held in self._held.items():
            if held.lease.target != held.told:
                self._tell(key, held)
        self._serve_waiting()

    def close(self) -> None:
        """Cancel all timers and give up all leases."""
        for job_id, serial, attempt in (*self._waiting, *self._held):
            self.release(LeaseRelease(job_id, attempt, serial))

    def _serve(self, waiting: Waiting) -> None:
        if not self._grant(waiting):
            loop = asyncio.get_running_loop()
            waiting.timer = loop.call_later(self._wait_seconds, self._give_up, waiting)
            self._waiting[_key(waiting.request)] = waiting

    def _serve_waiting(self) -> None:
        """Jobs with turns first: they hold more, and tell at once whether a backend on trial samples."""
        for waiting in sorted(self._waiting.values(), key=lambda one: not one.has_begun):
            if self._grant(waiting):
                self._forget(waiting)

    def _forget(self, waiting: Waiting) -> None:
        self._waiting.pop(_key(waiting.request), None)
        if waiting.timer is not None:
            waiting.timer.cancel()

    def _grant(self, waiting: Waiting) -> bool:
        version = waiting.version
        if version is not None and not self.pool.serves(version, pool=waiting.pool):
            version = None
        lease = self.pool.lease(waiting.request.job_id, pool=waiting.pool, version=version)
        if lease is None:
            return False
        self._grant_lease(waiting.request, lease)
        return True

    def _grant_lease(self, request: LeaseRequest | LeaseMove, lease: Lease) -> None:
        target = lease.target
        self._held[_key(request)] = Held(lease, target, request.attempt, request.serial)
        self._send(LeaseGranted(request.job_id, request.attempt, target_to_wire(target), serial=request.serial))

    def _replace(self, key: Key, held: Held) -> None:
        target = held.lease.target
        other = self.pool.lease(key[0], pool=target.pool, version=target.version)
        if other is not None:
            held.lease.release()
            held.lease = other
            self._tell(key, held)

    def _tell(self, key: Key, held: Held) -> None:
        held.told = held.lease.target
        self._send(LeaseChanged(key[0], held.attempt, target_to_wire(held.told), held.serial))

    def refuse(self, request: LeaseRequest | LeaseMove, reason: str) -> None:
        """Answer a request with no backend."""
        self._send(LeaseGranted(request.job_id, request.attempt, None, reason, request.serial))

    def _give_up(self, waiting: Waiting) -> None:
        waiting.version = None
        self._forget(waiting)
        if not self._grant(waiting):
            came = "none came back" if waiting.has_begun else "none came"
            what = f"{came} to pool {waiting.pool!r} within {self._wait_seconds:g} s; POST /add_llm_server"
            self.refuse(waiting.request, what)


def _key(message: Named) -> Key:
    return message.job_id, message.serial, message.attempt


def _is_meant(lease: Lease, message: BackendFailed | LeaseMove) -> bool:
    """Whether the job still holds what it speaks of: it may have got another backend, or that one new weights."""
    return (lease.backend_id, lease.target.epoch) == (message.backend_id, message.epoch)
