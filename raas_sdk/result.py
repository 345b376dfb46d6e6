"""The record of a finished job: one schema for files, wire and memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any

from raas_sdk.errors import PluginFault
from raas_sdk.trajectory import Trajectory

__all__ = ["SCHEMA", "Failure", "Outcome", "Result", "Timing", "Usage"]

SCHEMA = 1


class Outcome(StrEnum):
    """How a job ended. Only scored and model_limit can carry a trainable reward."""

    SCORED = "scored"
    MODEL_LIMIT = "model_limit"
    TASK_ERROR = "task_error"
    INFRA_ERROR = "infra_error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: `stage` (init, run, eval or accept), `kind` (infra, task, model, timeout), stable `code`."""

    stage: str
    kind: str
    code: str
    message: str
    retryable: bool = False
    traceback: str | None = None
    also: tuple[str, ...] = ()

    def checked(self) -> "Failure":
        """Return self, or raise PluginFault if a hook made it of what is no plain data."""
        texts = (self.stage, self.kind, self.code, self.message, self.traceback or "", *self.also)
        known = ("infra", "task", "model", "timeout")
        if not all(isinstance(text, str) for text in texts) or self.kind not in known:
            raise PluginFault(f"a Failure needs texts and a kind of {known}, got {self!r:.400}", code="bad_failure")
        return self


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds on the monotonic clock. Stages count work; waits never count towards a budget."""

    init: float = 0.0
    run: float = 0.0
    eval: float = 0.0
    queue_wait: float = 0.0
    permit_wait: float = 0.0
    lease_wait: float = 0.0
    model: float = 0.0
    total: float = 0.0
    accepted_at: float | None = None

    @property
    def counted(self) -> float:
        """Seconds that count towards budgets."""
        return self.init + self.run + self.eval


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens: `prompt_tokens` sums what was sent each turn, `sampled_tokens` what came back."""

    prompt_tokens: int = 0
    sampled_tokens: int = 0
    turns: int = 0
    tool_calls: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The canonical record (schema 1). `reward` is None unless a grader or an exception hook gave one."""

    job_id: str
    instance_id: str
    instance_digest: str
    data_source: str
    outcome: Outcome
    trainable: bool
    mask_reason: str | None
    reward: float | None = None
    accuracy: float | None = None
    resolved: bool | None = None
    reward_parts: Mapping[str, float] = field(default_factory=dict)
    reward_detail: Mapping[str, Any] = field(default_factory=dict)
    failure: Failure | None = None
    trajectory: Trajectory = field(default_factory=Trajectory)
    purpose: str = "train"
    pool: str = "default"
    group_id: str | None = None
    sample_index: int = 0
    attempt: int = 1
    sampling: Mapping[str, Any] = field(default_factory=dict)
    sandbox: Mapping[str, Any] = field(default_factory=dict)
    timing: Timing = field(default_factory=Timing)
    usage: Usage = field(default_factory=Usage)
    policy_version: Mapping[str, int | None] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA

    def to_wire(self, *, binary: bool = False) -> dict[str, Any]:
        """Plain data for JSON or, with `binary`, for msgpack."""
        row: dict[str, Any] = dict(zip(FIELDS, VALUES(self), strict=True))
        row["outcome"] = self.outcome.value
        row["failure"] = None if self.failure is None else _plain(self.failure)
        row["trajectory"] = self.trajectory.to_wire(binary=binary)
        row["timing"] = dict(zip(TIMING_FIELDS, TIMING_VALUES(self.timing), strict=True))
        row["usage"] = dict(zip(USAGE_FIELDS, USAGE_VALUES(self.usage), strict=True))
        return row

    @classmethod
    def from_wire(cls, row: Mapping[str, Any]) -> "Result":
        """The inverse of `to_wire`; raise ValueError for another schema."""
        if row.get("schema") != SCHEMA:
            raise ValueError(f"a result of schema {row.get('schema')!r} cannot be read; this version reads {SCHEMA}")
        values = {name: row[name] for name in FIELDS if name in row}
        failure = values.get("failure")
        values["outcome"] = Outcome(values["outcome"])
        values["failure"] = None if failure is None else Failure(**{**failure, "also": tuple(failure["also"])})
        values["trajectory"] = Trajectory.from_wire(values["trajectory"])
        values["timing"] = Timing(**values["timing"])
        values["usage"] = Usage(**values["usage"])
        return cls(**values)


FIELDS = tuple(item.name for item in fields(Result))
VALUES = attrgetter(*FIELDS)
TIMING_FIELDS = tuple(item.name for item in fields(Timing))
TIMING_VALUES = attrgetter(*TIMING_FIELDS)
USAGE_FIELDS = tuple(item.name for item in fields(Usage))
USAGE_VALUES = attrgetter(*USAGE_FIELDS)


def _plain(record: Any) -> dict[str, Any]:
    return {item.name: getattr(record, item.name) for item in fields(record)}
