"""The gateway's side of backend leases: who holds which, who waits, and who must be told of changes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from raas_sdk.backends.backend import Backend
from raas_sdk.backends.lease import Lease
from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.leases import target_to_wire
from raas_sdk.engine.messages import LeaseChanged, LeaseGranted, LeaseMove, LeaseRequest, Message

__all__ = ["LeaseDesk"]


@dataclass(slots=True)
class Waiting:
    """A request that no backend could take yet."""

    request: LeaseRequest
    timer: asyncio.TimerHandle


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
        self._held: dict[str, tuple[Lease, object]] = {}
        self._waiting: dict[str, Waiting] = {}

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
        if not self._grant(message):
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self._wait_seconds, self._give_up, message)
            self._waiting[message.job_id] = Waiting(message, timer)

    def move(self, message: LeaseMove) -> None:
        """Lend a job another backend of the version it samples with, since its own gives no answer."""
        lease, _ = self._held.get(message.job_id, (None, None))
        if lease is None:
            self._refuse(message, "the job holds no lease")
            return
        target = lease.target
        self.pool.mark_unhealthy(lease.backend_id, message.fault)
        self._on_unhealthy(target)
        avoid = (lease.backend_id,)
        other = self.pool.lease(message.job_id, pool=target.pool, version=target.version, avoid=avoid)
        if other is None:
            self._refuse(message, f"no other backend of version {target.version!r} in pool {target.pool!r}")
            return
        lease.release()
        self._grant_lease(message, other)

    def release(self, job_id: str) -> None:
        """Take a lease back, or forget a request; unknown ids are fine."""
        waiting = self._waiting.pop(job_id, None)
        if waiting is not None:
            waiting.timer.cancel()
        held = self._held.pop(job_id, None)
        if held is not None:
            held[0].release()

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

    def set_version(self, version: int, *, pool: str = "default") -> None:
        """New weights on every backend of the pool."""
        self.pool.set_version(version, pool=pool)
        self.refresh()

    def refresh(self) -> None:
        """After any change of the pool: tell holders their new target, serve who waits."""
        for job_id, (lease, told) in tuple(self._held.items()):
            if lease.target != told:
                self._held[job_id] = (lease, lease.target)
                self._send(LeaseChanged(job_id, target_to_wire(lease.target)))
        for waiting in tuple(self._waiting.values()):
            if self._grant(waiting.request):
                self._waiting.pop(waiting.request.job_id).timer.cancel()

    def close(self) -> None:
        """Cancel all timers."""
        for job_id in (*self._waiting, *self._held):
            self.release(job_id)

    def _grant(self, request: LeaseRequest) -> bool:
        lease = self.pool.lease(request.job_id, pool=request.pool)
        if lease is None:
            return False
        self._grant_lease(request, lease)
        return True

    def _grant_lease(self, request: LeaseRequest | LeaseMove, lease: Lease) -> None:
        target = lease.target
        self._held[request.job_id] = (lease, target)
        self._send(LeaseGranted(request.job_id, request.attempt, target_to_wire(target)))

    def _refuse(self, request: LeaseRequest | LeaseMove, reason: str) -> None:
        self._send(LeaseGranted(request.job_id, request.attempt, None, reason))

    def _give_up(self, request: LeaseRequest) -> None:
        self._waiting.pop(request.job_id, None)
        self._refuse(
            request, f"none came to pool {request.pool!r} within {self._wait_seconds:g} s; POST /add_llm_server"
        )
