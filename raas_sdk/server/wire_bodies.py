"""ProRL's result body, made from the canonical record: upstream's keys with their meanings, ours beside them."""

from collections.abc import Mapping
from typing import Any

from raas_sdk.job import Job
from raas_sdk.result import Outcome, Result
from raas_sdk.server.message_tokens import messages_with_tokens, shown_segment
from raas_sdk.trajectory import TurnSpan

__all__ = ["result_body", "weight_of"]

GRADED = (Outcome.SCORED, Outcome.MODEL_LIMIT)
OURS = (
    "schema",
    "job_id",
    "instance_id",
    "instance_digest",
    "data_source",
    "outcome",
    "reward",
    "accuracy",
    "trainable",
    "mask_reason",
    "failure",
    "reward_parts",
    "reward_detail",
    "purpose",
    "pool",
    "group_id",
    "sample_index",
    "attempt",
    "sampling",
    "sandbox",
    "usage",
    "policy_version",
    "extra",
)
BYTES_PER_TOKEN = 40


def result_body(job: Job, result: Result, *, full: bool = False) -> dict[str, Any]:
    """What /process answers. `full` adds each call's whole prompt, which grows with the square of the turns."""
    row, trajectory = result.to_wire(), result.trajectory
    return {
        **_verdict(result),
        **{name: row[name] for name in OURS},
        **_patch(trajectory.submission),
        "trajectory_id": job.instance.payload.get("trajectory_id", result.sample_index),
        "messages": messages_with_tokens(trajectory, full=full),
        "tools": row["trajectory"]["tools"],
        "timing": _timing(result),
        "segments": row["trajectory"]["segments"],
        "shown_segment": shown_segment(trajectory),
        "num_turns": trajectory.num_turns,
        "stop_reason": trajectory.stop_reason,
        "submission": trajectory.submission,
    }


def weight_of(result: Result, *, full: bool) -> int:
    """About how many bytes the body will have as JSON."""
    trajectory = result.trajectory
    tokens = sum(len(segment.token_ids) for segment in trajectory.segments)
    text = sum(len(str(message.get("content"))) for message in trajectory.messages)
    return BYTES_PER_TOKEN * tokens * (max(trajectory.num_turns, 1) if full else 1) + text


def critical_error(result: Result) -> str | None:
    """Upstream's word for what went wrong outside of the policy."""
    if result.outcome in GRADED:
        return None
    if result.outcome in (Outcome.TIMEOUT, Outcome.CANCELLED, Outcome.STALE):
        return result.outcome.value
    return "run" if result.failure is None else result.failure.stage


def _verdict(result: Result) -> dict[str, Any]:
    failure = result.failure
    return {
        "success": failure is None and result.outcome in GRADED,
        "error": None if failure is None else failure.message,
        "traceback": None if failure is None else failure.traceback,
        "finish": _has_finished(result),
        "end_properly": _ends_properly(result),
        "resolved": bool(result.resolved),
        "critical_error": critical_error(result),
        "filter": not result.trainable,
    }


def _has_finished(result: Result) -> bool:
    """Whether the last reply called finish."""
    replies = [m for m in result.trajectory.messages if m.get("role") == "assistant"]
    calls = replies[-1].get("tool_calls") or () if replies else ()
    return any(isinstance(call, Mapping) and call.get("name") == "finish" for call in calls)


def _ends_properly(result: Result) -> bool:
    """Whether the last sampled reply ended by itself."""
    spans: list[TurnSpan] = [span for segment in result.trajectory.segments for span in segment.turns]
    sampled = [span for span in spans if span.finish_reason is not None]
    return bool(sampled) and sampled[-1].finish_reason == "stop"


def _patch(submission: Any) -> dict[str, Any]:
    has_patch = isinstance(submission, Mapping) and "git_patch" in submission
    return {"git_patch": submission["git_patch"]} if has_patch else {}


def _timing(result: Result) -> dict[str, Any]:
    timing = result.timing
    return {
        "init_time": timing.init,
        "run_time": timing.run,
        "eval_time": timing.eval,
        "others_time": max(timing.total - timing.counted, 0.0),
        "counted_elapsed": timing.counted,
        "timeout_triggered": result.outcome is Outcome.TIMEOUT,
        "queue_wait": timing.queue_wait,
        "permit_wait": timing.permit_wait,
        "lease_wait": timing.lease_wait,
        "model": timing.model,
        "total": timing.total,
    }
