"""Turning a finished attempt into the canonical record."""

from collections.abc import Sequence
from typing import Any

from raas_sdk.engine.attempt import Attempt
from raas_sdk.job import Job
from raas_sdk.result import Failure, Outcome, Result, Timing, Usage
from raas_sdk.reward import Reward
from raas_sdk.trajectory import Trajectory, TurnSpan
from raas_sdk.verdict import mask_reason

__all__ = ["bare_result", "build_result"]


def build_result(attempt: Attempt, *, outcome: Outcome, reward: Reward | None, failure: Failure | None) -> Result:
    """The record of a job whose last attempt this was."""
    job, trajectory = attempt.job, attempt.trajectory()
    model_seconds = attempt.policy.model_seconds if attempt.policy else 0.0
    timing = attempt.clock.timing(model_seconds=model_seconds)
    return _record(
        job,
        trajectory,
        outcome=outcome,
        reward=reward,
        failure=failure,
        timing=timing,
        usage=_usage(attempt, trajectory),
        policy_version=_versions(attempt, trajectory),
        sandbox={} if attempt.sandbox is None else dict(zip(("runtime", "level"), attempt.sandbox, strict=True)),
        extra={"notes": list(attempt.notes)} if attempt.notes else {},
    )


def bare_result(job: Job, *, outcome: Outcome, failure: Failure | None, queue_wait: float = 0.0) -> Result:
    """The record of a job that never got to an attempt."""
    timing = Timing(queue_wait=queue_wait, total=queue_wait)
    return _record(job, Trajectory(), outcome=outcome, reward=None, failure=failure, timing=timing)


def _record(
    job: Job,
    trajectory: Trajectory,
    *,
    outcome: Outcome,
    reward: Reward | None,
    failure: Failure | None,
    **more: Any,
) -> Result:
    reason = mask_reason(outcome, reward, trajectory)
    return Result(
        job_id=job.job_id,
        instance_id=job.instance.instance_id,
        instance_digest=job.instance.digest,
        data_source=job.data_source,
        outcome=outcome,
        trainable=reason is None,
        mask_reason=reason,
        reward=None if reward is None else float(reward.value),
        accuracy=None if reward is None else float(reward.raw_accuracy),
        resolved=None if reward is None else reward.is_resolved,
        reward_parts={} if reward is None else dict(reward.parts),
        reward_detail={} if reward is None else dict(reward.detail),
        failure=failure,
        trajectory=trajectory,
        purpose=job.purpose.value,
        pool=job.pool,
        group_id=job.group_id,
        sample_index=job.sample_index,
        attempt=job.attempt,
        sampling={**job.sampling.to_wire(), "limits": job.limits.to_wire()},
        **more,
    )


def _spans(trajectory: Trajectory) -> list[TurnSpan]:
    return [span for segment in trajectory.segments for span in segment.turns if span.role == "assistant"]


def _usage(attempt: Attempt, trajectory: Trajectory) -> Usage:
    sent = sum(talk.ledger.prompt_tokens_sent for talk in attempt.policy.conversations) if attempt.policy else 0
    return Usage(
        prompt_tokens=sent,
        sampled_tokens=trajectory.sampled_tokens,
        turns=trajectory.num_turns,
        tool_calls=attempt.tool_calls,
    )


def _versions(attempt: Attempt, trajectory: Trajectory) -> dict[str, int | None]:
    seen: Sequence[int] = [span.version for span in _spans(trajectory) if span.version is not None]
    dispatch = attempt.policy.dispatch_version if attempt.policy else None
    return {"dispatch": dispatch, "min": min(seen, default=None), "max": max(seen, default=None)}
