"""The pool's invariants under any order of adding, leasing, releasing, clearing, draining and swapping."""

from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from raas_sdk.backends.lease import Lease
from raas_sdk.backends.pool import BackendPool

ADDRESSES = st.sampled_from([f"http://h{number}:1" for number in range(4)])
POOLS = st.sampled_from(["default", "judge"])


class PoolMachine(RuleBasedStateMachine):
    leases = Bundle("leases")

    @initialize(seed=st.integers(0, 1000))
    def start(self, seed: int) -> None:
        self.pool = BackendPool(Random(seed))
        self.held: list[Lease] = []
        self.epochs: dict[tuple[str, int], int | None] = {}

    @rule(
        address=ADDRESSES,
        pool=POOLS,
        weight=st.sampled_from([None, 0.5, 1.0, 3.0]),
        version=st.none() | st.integers(0, 5),
    )
    def add(self, address: str, pool: str, weight: float | None, version: int | None) -> None:
        backend = self.pool.add(address, pool=pool, weight=weight, version=version)
        assert backend.usable and backend in self.pool.list(pool)
        assert version is None or backend.version == version

    @rule(target=leases, pool=POOLS)
    def lease(self, pool: str) -> object:
        usable = [backend for backend in self.pool.list(pool) if backend.usable]
        least = min((backend.busyness for backend in usable), default=None)
        lease = self.pool.lease(f"j{len(self.held)}", pool=pool)
        if lease is None:
            assert not usable
            return multiple()
        backend = self.pool.get(lease.backend_id)
        assert backend.live / backend.weight == least, "the least busy was passed over"
        self.held.append(lease)
        return lease

    @rule(lease=consumes(leases), twice=st.booleans())
    def release(self, lease: Lease, twice: bool) -> None:
        lease.release()
        if twice:
            lease.release()
        self.held.remove(lease)

    @rule(pool=st.none() | POOLS)
    def clear(self, pool: str | None) -> None:
        before = [lease.target for lease in self.held]
        version = self.pool.version("default")
        self.pool.clear(pool)
        assert self.pool.list(pool) == ()
        assert [lease.target for lease in self.held] == before
        assert self.pool.version("default") == version + (pool in (None, "default"))

    @rule(data=st.data(), action=st.sampled_from(["remove", "drain", "unhealthy", "healthy"]))
    def change(self, data: st.DataObject, action: str) -> None:
        ids = [backend.id for backend in self.pool.list()]
        if not ids:
            return
        chosen = data.draw(st.sampled_from(ids))
        if action == "remove":
            assert set(self.pool.remove(chosen)) == {h for h in self.held if h.backend_id == chosen}
        elif action == "drain":
            self.pool.drain(chosen)
        elif action == "unhealthy":
            self.pool.mark_unhealthy(chosen, "test")
        else:
            self.pool.mark_healthy(chosen)

    @rule(pool=POOLS, version=st.integers(0, 9))
    def swap_in_place(self, pool: str, version: int) -> None:
        self.pool.set_version(version, pool=pool)
        assert all(backend.version == version for backend in self.pool.list(pool))

    @invariant()
    def live_counts_are_the_outstanding_leases(self) -> None:
        for backend in self.pool.list():
            assert backend.live == sum(1 for lease in self.held if lease.backend_id == backend.id)

    @invariant()
    def an_address_is_registered_once_in_a_pool(self) -> None:
        places = [(backend.pool, backend.address) for backend in self.pool.list()]
        assert len(places) == len(set(places))

    @invariant()
    def an_epoch_never_changes_its_version(self) -> None:
        for backend in self.pool.list():
            key = (backend.address, backend.epoch)
            assert self.epochs.setdefault(key, backend.version) == backend.version


PoolMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestPool = PoolMachine.TestCase
