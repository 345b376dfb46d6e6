"""Which backends there are, which one a job gets, and which weights they serve. State only, no I/O.

Rules of versions and epochs:

- A backend's version is the one given to `add` or `set_version`, else its pool's counter. `clear` raises the
  counter to one above every version the pool has seen.
- `add` of an address that was cleared or removed starts a new epoch with the new version; jobs that still hold
  a lease there go on there, and their next turn is stamped with it.
- `add` of an address that is registered changes its weight or wire and marks it healthy. It starts a new
  epoch only when a version is given that differs, since nothing else tells that the weights changed.
- `set_version` starts a new epoch on every backend of the pool whose version it changes.
"""

import itertools
import math
import time
from collections.abc import Collection, Iterator
from random import Random

from raas_sdk.backends.address import normalise_address
from raas_sdk.backends.backend import Backend
from raas_sdk.backends.lease import Lease
from raas_sdk.errors import BadRequest

__all__ = ["BackendPool"]


class BackendPool:
    """All backends by named pool. A lease counts as one live job; the least (live jobs + 1) ÷ weight wins.

    The choice looks at every backend of the pool instead of keeping a heap: that costs nothing at hundreds of
    backends, keeps ties truly random and allows filters.
    """

    def __init__(self, rng: Random | None = None) -> None:
        self._rng = rng or Random()
        self._ids = itertools.count(1)
        self._epochs = itertools.count(1)
        self._registered: dict[str, Backend] = {}
        self._retired: dict[str, Backend] = {}
        self._leases: dict[str, set[Lease]] = {}
        self._versions: dict[str, int] = {"default": 0}

    def add(
        self,
        address: str,
        *,
        pool: str = "default",
        wire: str | None = None,
        weight: float | None = None,
        version: int | None = None,
    ) -> Backend:
        """Register a server (again) and return it; raise BadRequest for an address or weight of no use.

        `weight` is its speed relative to the others, 1.0 unless given.
        """
        place = normalise_address(address)
        if weight is not None and not (math.isfinite(weight) and weight > 0):
            raise BadRequest(f"the weight of backend {address!r} must be above 0, got {weight!r}")
        self._versions[pool] = max(self.version(pool), version or 0)
        backend = self._known(place, pool) or self._new(place, pool)
        fresh = backend.id not in self._registered
        if fresh or (version is not None and version != backend.version):
            self._renew(backend, self.version(pool) if version is None else version)
            backend.wire = wire
        backend.wire = wire or backend.wire
        backend.weight = weight or backend.weight
        backend.healthy, backend.draining, backend.fault = True, False, None
        self._retired.pop(backend.id, None)
        self._registered[backend.id] = backend
        return backend

    def remove(self, backend_id: str) -> tuple[Lease, ...]:
        """Take a backend out now; return the leases of the jobs that need another."""
        backend = self.get(backend_id)
        self._retire(backend)
        return self.leases(backend_id)

    def drain(self, backend_id: str) -> None:
        """Give a backend no new jobs; it is taken out when its last lease is released."""
        backend = self.get(backend_id)
        backend.draining = True
        if not backend.live:
            self._retire(backend)

    def clear(self, pool: str | None = None) -> tuple[Backend, ...]:
        """Take out all backends of a pool (None: of every pool) and raise its version counter.

        Running leases keep their target. Returns what was taken out.
        """
        pools = list(self._versions) if pool is None else [pool]
        gone = tuple(backend for name in pools for backend in self.list(name))
        for backend in gone:
            self._retire(backend)
        for name in pools:
            self._versions[name] = self.version(name) + 1
        return gone

    def set_version(self, version: int, *, pool: str = "default") -> tuple[Lease, ...]:
        """Say which weights a pool's backends serve from now on; return the leases whose target changed."""
        self._versions[pool] = version
        changed = [backend for backend in self.list(pool) if backend.version != version]
        for backend in changed:
            self._renew(backend, version)
        return tuple(lease for backend in changed for lease in self.leases(backend.id))

    def version(self, pool: str = "default") -> int:
        """The version that a backend added to the pool now gets unless it brings its own."""
        return self._versions.get(pool, 0)

    def get(self, backend_id: str) -> Backend:
        """The registered backend of that id; raise BadRequest (code unknown_backend) if there is none."""
        backend = self._registered.get(backend_id)
        if backend is None:
            known = ", ".join(self._registered) or "none"
            raise BadRequest(f"no backend has id {backend_id!r}; known: {known}", code="unknown_backend")
        return backend

    def lease(
        self,
        job_id: str,
        *,
        pool: str = "default",
        version: int | None = None,
        avoid: Collection[str] = (),
    ) -> Lease | None:
        """Lease the least busy usable backend for a job, or None when there is none.

        `version` takes only backends of that version, `avoid` none of these ids (a job that must move).
        """
        free = [b for b in self.list(pool) if b.usable and b.id not in avoid and version in (None, b.version)]
        if not free:
            return None
        least = min(backend.busyness for backend in free)
        backend = self._rng.choice([backend for backend in free if backend.busyness == least])
        lease = Lease(job_id, backend, on_release=self._released)
        backend.live += 1
        self._leases.setdefault(backend.id, set()).add(lease)
        return lease

    def leases(self, backend_id: str) -> tuple[Lease, ...]:
        """The leases that are held on a backend, also on one that was taken out."""
        return tuple(self._leases.get(backend_id, ()))

    def mark_unhealthy(self, backend_id: str, fault: str) -> None:
        """Give it no new jobs until it is marked healthy; does nothing if it is gone."""
        self._mark(backend_id, healthy=False, fault=fault)

    def mark_healthy(self, backend_id: str) -> None:
        """Give it jobs again; does nothing if it is gone."""
        self._mark(backend_id, healthy=True, fault=None)

    def set_wire(self, backend_id: str, wire: str) -> None:
        """Note the wire that a probe found; does nothing if the backend is gone."""
        backend = self._registered.get(backend_id)
        if backend is not None:
            backend.wire = wire

    def list(self, pool: str | None = None) -> "tuple[Backend, ...]":
        """The registered backends of a pool (None: of all), oldest first."""
        return tuple(b for b in self._registered.values() if pool in (None, b.pool))

    def _known(self, address: str, pool: str) -> Backend | None:
        fits = (b for b in self._everywhere() if b.address == address and b.pool == pool)
        return next(fits, None)

    def _everywhere(self) -> Iterator[Backend]:
        return itertools.chain(self._registered.values(), self._retired.values())

    def _new(self, address: str, pool: str) -> Backend:
        return Backend(id=f"b{next(self._ids)}", address=address, pool=pool, epoch=0, added_at=time.monotonic())

    def _renew(self, backend: Backend, version: int) -> None:
        backend.epoch = next(self._epochs)
        backend.version = version

    def _retire(self, backend: Backend) -> None:
        del self._registered[backend.id]
        if backend.live:
            self._retired[backend.id] = backend

    def _mark(self, backend_id: str, *, healthy: bool, fault: str | None) -> None:
        backend = self._registered.get(backend_id)
        if backend is not None:
            backend.healthy, backend.fault = healthy, fault

    def _released(self, lease: Lease) -> None:
        held = self._leases[lease.backend_id]
        held.remove(lease)
        if not held:
            del self._leases[lease.backend_id]
        backend = self._registered.get(lease.backend_id) or self._retired[lease.backend_id]
        backend.live -= 1
        if backend.live == 0:
            self._retired.pop(backend.id, None)
            if backend.draining:
                self._registered.pop(backend.id, None)
