from collections import Counter
from random import Random

import pytest

from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BadRequest

A, B, C = "http://a:1", "http://b:1", "http://c:1"


@pytest.fixture
def pool() -> BackendPool:
    return BackendPool(Random(7))


def test_an_empty_pool_has_nothing_to_lease(pool: BackendPool) -> None:
    assert pool.lease("j1") is None


def test_a_job_keeps_its_backend_for_the_whole_rollout(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    target = lease.target
    pool.add(B)
    for job in range(10):
        pool.lease(f"other-{job}")
    assert lease.target == target == BackendTarget(A, None, 1, 0, "default", "b1")


def test_the_least_busy_backend_is_leased_next(pool: BackendPool) -> None:
    for address in (A, B, C):
        pool.add(address)
    leases = [pool.lease(f"j{number}") for number in range(9)]
    assert Counter(lease.backend_id for lease in leases if lease) == {"b1": 3, "b2": 3, "b3": 3}
    for lease in leases:
        if lease is not None and lease.backend_id == "b2":
            lease.release()
    again = [pool.lease(f"k{number}") for number in range(3)]
    assert [lease.backend_id for lease in again if lease] == ["b2", "b2", "b2"]


def test_a_backend_twice_as_fast_gets_twice_the_jobs(pool: BackendPool) -> None:
    pool.add(A, weight=2.0)
    pool.add(B)
    leases = [pool.lease(f"j{number}") for number in range(30)]
    assert Counter(lease.backend_id for lease in leases if lease) == {"b1": 20, "b2": 10}


def test_ties_are_broken_at_random_and_repeat_with_the_seed() -> None:
    def first_choices(seed: int) -> list[str]:
        pool = BackendPool(Random(seed))
        for address in (A, B, C):
            pool.add(address)
        chosen = []
        for number in range(60):
            lease = pool.lease(f"j{number}")
            assert lease is not None
            chosen.append(lease.backend_id)
            lease.release()
        return chosen

    assert first_choices(1) == first_choices(1) != first_choices(2)
    assert set(first_choices(1)) == {"b1", "b2", "b3"}


def test_long_jobs_do_not_pile_up_on_one_backend(pool: BackendPool) -> None:
    for number in range(4):
        pool.add(f"http://h{number}:1")
    short = []
    for number in range(64):
        lease = pool.lease(f"j{number}")
        assert lease is not None
        if number % 4 != 0:
            short.append(lease)
        if len(short) > 3:
            short.pop(0).release()
    loads = [backend.live for backend in pool.list()]
    assert max(loads) <= 2 * sum(loads) / len(loads)


def test_releasing_twice_counts_once(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None and not lease.released
    lease.release()
    lease.release()
    assert lease.released
    assert pool.list()[0].live == 0


def test_a_job_that_must_move_gets_another_backend_of_its_version(pool: BackendPool) -> None:
    pool.add(A, version=3)
    pool.add(B, version=4)
    pool.add(C, version=3)
    moved = [pool.lease(f"j{number}", version=3, avoid={"b1"}) for number in range(5)]
    assert {lease.backend_id for lease in moved if lease} == {"b3"}
    assert pool.lease("j9", version=5) is None


def test_pools_are_apart(pool: BackendPool) -> None:
    pool.add(A)
    judge = pool.add(A, pool="judge")
    assert [backend.pool for backend in pool.list()] == ["default", "judge"]
    lease = pool.lease("j1", pool="judge")
    assert lease is not None and lease.backend_id == judge.id
    pool.clear("default")
    assert (pool.list("default"), pool.list("judge")) == ((), (judge,))
    assert (pool.version("default"), pool.version("judge")) == (1, 0)


def test_adding_a_live_address_again_changes_nothing_that_is_not_given(pool: BackendPool) -> None:
    first = pool.add(A, wire="vllm", weight=2.0)
    before = first.target
    again = pool.add(A + "/v1")
    assert again is first and again.target == before and again.weight == 2.0
    assert len(pool.list()) == 1


def test_adding_a_live_address_with_another_version_starts_an_epoch(pool: BackendPool) -> None:
    pool.add(A, wire="vllm", version=1)
    lease = pool.lease("j1")
    assert lease is not None
    before = lease.target
    pool.add(A, wire="vllm", version=2)
    assert (lease.target.version, before.version) == (2, 1)
    assert lease.target.epoch > before.epoch
    assert pool.add(A, version=2).epoch == lease.target.epoch


def test_running_jobs_keep_their_target_when_a_pool_is_cleared(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    before = lease.target
    pool.clear()
    assert lease.target == before
    assert pool.lease("j2") is None


def test_jobs_go_on_at_an_address_added_again_stamped_with_its_new_version(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    before = lease.target
    pool.clear()
    renewed = pool.add(A)
    assert (lease.target.version, lease.target.address) == (1, before.address)
    assert lease.target.epoch > before.epoch
    assert renewed.live == 1


def test_an_address_that_was_cleared_while_idle_never_repeats_an_epoch(pool: BackendPool) -> None:
    seen = set()
    for _ in range(5):
        seen.add(pool.add(A).epoch)
        pool.clear()
    assert len(seen) == 5


def test_versions_count_clears_and_follow_what_is_given(pool: BackendPool) -> None:
    versions = []
    for given in (None, None, 10, None):
        versions.append(pool.add(A, version=given).version)
        pool.clear()
    assert versions == [0, 1, 10, 11]


def test_a_new_version_of_the_weights_in_place_restamps_the_leases(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    before = lease.target
    assert pool.set_version(5) == (lease,)
    assert (lease.target.version, lease.target.epoch > before.epoch) == (5, True)
    assert pool.set_version(5) == ()
    assert pool.add(B).version == 5


def test_a_removed_backend_names_the_jobs_that_need_another(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    assert pool.remove("b1") == (lease,)
    assert pool.list() == ()
    lease.release()
    assert pool.leases("b1") == ()


def test_a_draining_backend_takes_no_new_jobs_and_goes_with_its_last(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None
    pool.drain("b1")
    assert pool.lease("j2") is None
    assert len(pool.list()) == 1
    lease.release()
    assert pool.list() == ()


def test_an_idle_backend_that_is_drained_goes_at_once(pool: BackendPool) -> None:
    pool.add(A)
    pool.drain("b1")
    assert pool.list() == ()


def test_adding_a_draining_or_unhealthy_backend_again_puts_it_back_to_work(pool: BackendPool) -> None:
    pool.add(A)
    held = pool.lease("j1")
    assert held is not None
    pool.drain("b1")
    pool.mark_unhealthy("b1", "HTTP 500")
    assert pool.add(A).usable


def test_an_unhealthy_backend_is_skipped_until_it_is_healthy(pool: BackendPool) -> None:
    pool.add(A)
    pool.add(B)
    pool.mark_unhealthy("b1", "connection refused")
    assert pool.list()[0].fault == "connection refused"
    assert {lease.backend_id for lease in (pool.lease("j1"), pool.lease("j2")) if lease} == {"b2"}
    pool.mark_healthy("b1")
    lease = pool.lease("j3")
    assert lease is not None and lease.backend_id == "b1"


def test_health_and_wire_of_a_backend_that_is_gone_are_passed_over(pool: BackendPool) -> None:
    pool.mark_unhealthy("b9", "gone")
    pool.mark_healthy("b9")
    pool.set_wire("b9", "vllm")
    assert pool.list() == ()


def test_a_probed_wire_reaches_the_leases(pool: BackendPool) -> None:
    pool.add(A)
    lease = pool.lease("j1")
    assert lease is not None and lease.target.wire is None
    pool.set_wire("b1", "prorl")
    assert lease.target.wire == "prorl"


def test_a_new_epoch_is_probed_again_unless_its_wire_is_given(pool: BackendPool) -> None:
    pool.add(A, wire="vllm")
    pool.clear()
    assert pool.add(A).wire is None


def test_an_unknown_id_is_refused_with_those_that_exist(pool: BackendPool) -> None:
    pool.add(A)
    with pytest.raises(BadRequest, match="'b7'; known: b1") as caught:
        pool.remove("b7")
    assert caught.value.code == "unknown_backend"


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_of_no_use_is_refused(pool: BackendPool, weight: float) -> None:
    with pytest.raises(BadRequest, match="weight"):
        pool.add(A, weight=weight)
