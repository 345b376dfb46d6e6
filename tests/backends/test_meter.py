"""Speeds measured on replies, and what they do to the choice of a backend."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.backends.meter import SpeedMeter, relative_speeds
from raas_sdk.backends.pool import BackendPool

A, B = "http://a:1", "http://b:1"


def test_a_rate_is_told_only_on_evidence() -> None:
    meter = SpeedMeter()
    meter.add(100, 1.0)
    assert meter.rate is None
    for _ in range(10):
        meter.add(100, 1.0)
    assert meter.rate is not None and abs(meter.rate - 100) < 1e-9


@given(st.dictionaries(st.integers().map(str), st.floats(0.001, 1e6), min_size=1))
def test_speeds_are_bounded_so_that_no_backend_starves(rates: dict[str, float]) -> None:
    speeds = relative_speeds(rates)
    assert set(speeds) == set(rates) and all(0.25 <= speed <= 4.0 for speed in speeds.values())


def test_noise_leaves_equals_equal() -> None:
    assert set(relative_speeds({"a": 100.0, "b": 108.0, "c": 95.0}).values()) == {1.0}


def leases(pool: BackendPool, count: int) -> Counter[str]:
    found = [pool.lease(f"j{number}") for number in range(count)]
    return Counter(lease.backend_id for lease in found if lease)


def test_a_backend_measured_to_be_faster_gets_more_jobs() -> None:
    pool = BackendPool(Random(1))
    fast, slow = pool.add(A), pool.add(B)
    for _ in range(10):
        pool.sampled(fast.id, tokens=300, seconds=1.0)
        assert (fast.speed, slow.speed) == (1.0, 1.0), "one measured alone is compared with nothing"
    for _ in range(10):
        pool.sampled(slow.id, tokens=100, seconds=1.0)
    assert fast.speed > 2 * slow.speed
    counts = leases(pool, 40)
    assert counts["b1"] > 2 * counts["b2"] > 0


def test_a_given_weight_wins_over_what_is_measured() -> None:
    pool = BackendPool(Random(1))
    given_one, other, third = pool.add(A, weight=2.0), pool.add(B), pool.add("http://c:1")
    for _ in range(10):
        for backend, tokens in ((given_one, 1), (other, 100), (third, 100)):
            pool.sampled(backend.id, tokens=tokens, seconds=1.0)
    assert (given_one.speed, other.speed, third.speed) == (2.0, 1.0, 1.0)
