"""The two decisions nobody else makes: what kind of failure an exception is, and what may be trained on."""

import traceback
from collections.abc import Iterator

from raas_sdk.result import Failure, Outcome
from raas_sdk.reward import Reward
from raas_sdk.trajectory import Trajectory

__all__ = ["classify", "mask_reason", "outcome_of"]

KINDS = ("infra", "task", "model", "timeout")
OUTCOMES = {
    "infra": Outcome.INFRA_ERROR,
    "task": Outcome.TASK_ERROR,
    "model": Outcome.MODEL_LIMIT,
    "timeout": Outcome.TIMEOUT,
}


def classify(error: BaseException, *, stage: str) -> Failure:
    """Read the failure off an exception, the causes behind it or the members of a group.

    Without a sign it is a task fault.
    """
    marked = next((e for e in _chain(error) if getattr(e, "raas_kind", None) in KINDS), None)
    return Failure(
        stage=stage,
        kind="task" if marked is None else str(getattr(marked, "raas_kind")),  # noqa: B009 - any exception may carry it
        code=type(error).__name__ if marked is None else str(getattr(marked, "code", "error")),
        message=f"{type(error).__name__}: {_shown(error)}"[:4000],
        retryable=bool(getattr(marked, "retryable", False)),
        traceback=_traceback(error),
    )


def outcome_of(failure: Failure) -> Outcome:
    """The outcome a failure leads to when nothing reclassifies it."""
    return OUTCOMES[failure.kind]


def mask_reason(outcome: Outcome, reward: Reward | None, trajectory: Trajectory) -> str | None:
    """Why a result must not be trained on; None means it may."""
    if outcome is not Outcome.SCORED and outcome is not Outcome.MODEL_LIMIT:
        return f"outcome_{outcome.value}"
    if reward is None:
        return "no_reward"
    if trajectory.sampled_tokens == 0:
        return "no_sampled_tokens"
    segments = trajectory.segments
    if any(segment.missing_logprobs for segment in segments):
        return "missing_logprobs"
    if any(turn.mixed for segment in segments for turn in segment.turns):
        return "mixed_policy_version"
    return "text_wire" if any(segment.logprobs_mode == "none" for segment in segments) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    links: list[BaseException | None] = [error]
    while links:
        link = links.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        links += [*(link.exceptions if isinstance(link, BaseExceptionGroup) else ()), link.__cause__]


def _shown(error: BaseException) -> str:
    """The text of a foreign exception, whose own __str__ may be broken."""
    try:
        text = str(error) or repr(error)
    except Exception as second:  # noqa: BLE001 - foreign code; what it raised is shown in its place
        text = f"its text cannot be shown: {type(second).__name__}"
    return text.encode(errors="replace").decode()


def _traceback(error: BaseException) -> str:
    shown = "".join(traceback.format_exception(error, limit=-12))[-8000:]
    return shown.encode(errors="replace").decode()
