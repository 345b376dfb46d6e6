"""Figures of a batch: failures stand apart."""

from itertools import combinations

import pytest

from raas_sdk.client import pass_at_k, summarise
from raas_sdk.client.summary import Row


@pytest.mark.parametrize(("n", "right", "k"), [(5, 2, 1), (5, 2, 3), (8, 0, 8), (8, 8, 2), (4, 1, 4)])
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(n, right, k):
    draws = list(combinations([True] * right + [False] * (n - right), k))
    assert pass_at_k(n, right, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


def test_failures_are_counted_apart_and_never_as_zero(result):
    rows = [
        result(instance_digest="a", reward=1.0, resolved=True),
        result(instance_digest="a", reward=0.0, resolved=False),
        result(instance_digest="a", reward=None, resolved=False, outcome="infra_error", trainable=False),
        result(instance_digest="b", reward=1.0, resolved=True),
        result(instance_digest="b", reward=1.0, resolved=True),
        result(instance_digest="b", reward=1.0, resolved=True),
    ]
    [summary] = summarise((Row.of(row) for row in rows), k=3)
    assert (summary.rollouts, summary.graded, summary.trainable) == (6, 5, 5)
    assert summary.outcomes == {"scored": 5, "infra_error": 1}
    assert summary.mean_reward == pytest.approx(0.8)
    assert summary.pass_at_1 == pytest.approx(0.75)
    assert (summary.pass_at_k, summary.groups_of_k, summary.groups, summary.mixed_groups) == (1.0, 1, 2, 1)
    assert (summary.turns, summary.tokens, summary.seconds) == (2.0, 10.0, (1.0, 2.0, 3.0))


def test_a_batch_of_failures_has_no_figures_instead_of_zeros(result):
    [summary] = summarise([Row.of(result(reward=None, outcome="timeout"))], k=1)
    assert (summary.mean_reward, summary.pass_at_1, summary.pass_at_k) == (None, None, None)


def test_sources_are_apart(result):
    rows = [Row.of(result(data_source=source)) for source in ("b", "a", "b")]
    assert [(s.data_source, s.rollouts) for s in summarise(rows, k=1)] == [("a", 1), ("b", 2)]
