import asyncio
import itertools
from array import array

import pytest

from raas_sdk import Outcome, Reward, Segment, Trajectory, TurnSpan
from raas_sdk.errors import BackendUnreachable, LimitReached, StageTimeout, WorkspaceFault
from raas_sdk.verdict import classify, mask_reason, outcome_of


class Marked(Exception):
    raas_kind = "infra"
    code = "lost_node"
    retryable = True


def chained(*links):
    for error, cause in itertools.pairwise(links):
        error.__cause__ = cause
    return links[0]


def raised_in_handling():
    try:
        try:
            raise Marked
        except Marked:
            raise ValueError("second")  # noqa: B904 - a context, not a cause
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind", "code", "retryable"),
    [
        (ValueError("x"), "task", "ValueError", False),
        (Marked(), "infra", "lost_node", True),
        (chained(ValueError("a"), KeyError("b"), Marked()), "infra", "lost_node", True),
        (raised_in_handling(), "task", "ValueError", False),
        (WorkspaceFault("w"), "infra", "workspace_fault", True),
        (WorkspaceFault("w", code="sandbox_died", retryable=False), "infra", "sandbox_died", False),
        (BackendUnreachable("b"), "infra", "backend_unreachable", False),
        (LimitReached("turns"), "model", "limit_turns", False),
        (StageTimeout("run", 1.0), "timeout", "timeout", False),
        (TimeoutError(), "task", "TimeoutError", False),
        (asyncio.CancelledError(), "task", "CancelledError", False),
        (ExceptionGroup("g", [ValueError("v"), Marked()]), "infra", "lost_node", True),
        (chained(ValueError("v"), ExceptionGroup("g", [Marked()])), "infra", "lost_node", True),
    ],
)
def test_a_failure_is_read_off_the_exception_and_its_causes(error, kind, code, retryable):
    failure = classify(error, stage="run")
    assert (failure.stage, failure.kind, failure.code, failure.retryable) == ("run", kind, code, retryable)
    assert type(error).__name__ in failure.message


def test_a_chain_of_causes_that_bites_its_tail_ends():
    one, other = ValueError("1"), ValueError("2")
    one.__cause__, other.__cause__ = other, one
    assert classify(one, stage="run").kind == "task"


def test_an_unknown_kind_marks_nothing():
    error = ValueError("x")
    error.raas_kind = "cosmic"
    assert classify(error, stage="eval").kind == "task"


def test_an_exception_whose_text_cannot_be_had_is_still_a_failure():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    assert "cannot be shown" in classify(Mute(), stage="run").message


def test_messages_are_bounded_and_can_be_sent():
    failure = classify(ValueError("\ud800" + "x" * 100_000), stage="run")
    assert len(failure.message) <= 4000 and len(failure.traceback) <= 8000
    assert failure.message.encode() and failure.traceback.encode()


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("infra", "infra_error"), ("task", "task_error"), ("model", "model_limit"), ("timeout", "timeout")],
)
def test_each_kind_has_its_outcome(kind, outcome):
    error = ValueError("x")
    error.raas_kind = kind
    assert outcome_of(classify(error, stage="run")) == outcome


def rollout(*logprobs, mode="raw", mixed=False):
    span = TurnSpan(1, 1 + len(logprobs), "assistant", 1, "stop", version=3, mixed=mixed)
    segment = Segment(
        array("i", range(1 + len(logprobs))),
        1,
        array("B", [0] + [1] * len(logprobs)),
        array("f", (0.0, *logprobs)),
        mode,
        ((1, -1), (len(logprobs), 3)),
        (TurnSpan(0, 1, "prompt", 0), span),
    )
    return Trajectory((segment,))


GOOD = Outcome.SCORED, Reward(0.0), rollout(-0.5, -1.0)


@pytest.mark.parametrize(
    ("outcome", "reward", "trajectory", "reason"),
    [
        (*GOOD, None),
        (Outcome.MODEL_LIMIT, Reward(1.0), rollout(-0.5), None),
        *[
            (outcome, Reward(1.0), rollout(-0.5), f"outcome_{outcome.value}")
            for outcome in Outcome
            if outcome not in (Outcome.SCORED, Outcome.MODEL_LIMIT)
        ],
        (Outcome.SCORED, None, rollout(-0.5), "no_reward"),
        (Outcome.MODEL_LIMIT, None, rollout(-0.5), "no_reward"),
        (Outcome.SCORED, Reward(1.0), Trajectory(), "no_sampled_tokens"),
        (Outcome.SCORED, Reward(1.0), rollout(), "no_sampled_tokens"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, float("nan")), "missing_logprobs"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, float("-inf")), "missing_logprobs"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, -1e4), "missing_logprobs"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, -20000), "missing_logprobs"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, mixed=True), "mixed_policy_version"),
        (Outcome.SCORED, Reward(1.0), rollout(-0.5, mode="none"), "text_wire"),
    ],
)
def test_only_what_may_be_trained_on_has_no_mask_reason(outcome, reward, trajectory, reason):
    assert mask_reason(outcome, reward, trajectory) == reason
