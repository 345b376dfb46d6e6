"""One rollout to be done: an instance, how to sample, how much it may use, and where it belongs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from raas_sdk.instance import Instance
from raas_sdk.limits import Limits
from raas_sdk.sampling import Sampling

__all__ = ["Job", "Purpose", "Stage"]


class Stage(StrEnum):
    """The three stages of a job, in order."""

    INIT = "init"
    RUN = "run"
    EVAL = "eval"


class Purpose(StrEnum):
    """What the rollout is for; decides nothing about its reward."""

    TRAIN = "train"
    EVAL = "eval"


@dataclass(frozen=True, slots=True)
class Job:
    """A rollout request as accepted. `attempt` counts from 1; `sample_index` tells n samples apart."""

    job_id: str
    instance: Instance
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)
    purpose: Purpose = Purpose.TRAIN
    pool: str = "default"
    group_id: str | None = None
    sample_index: int = 0
    attempt: int = 1

    @property
    def data_source(self) -> str:
        """The name the job is routed by."""
        return self.instance.data_source

    def next_attempt(self) -> "Job":
        """The same job, to be tried afresh."""
        return replace(self, attempt=self.attempt + 1)

    def turn_seed(self, turn: int) -> int:
        """The effective seed of one call (31 bits)."""
        return self.sampling.turn_seed(sample_index=self.sample_index, attempt=self.attempt, turn=turn)

    def to_wire(self) -> dict[str, Any]:
        """The job as plain data."""
        row = {name: getattr(self, name) for name in ("job_id", "pool", "group_id", "sample_index", "attempt")}
        row["purpose"] = self.purpose.value
        row["instance"] = self.instance.model_dump()
        row["sampling"] = self.sampling.to_wire()
        row["limits"] = self.limits.to_wire()
        return row

    @classmethod
    def from_wire(cls, row: Mapping[str, Any]) -> "Job":
        """The inverse of `to_wire`."""
        values = dict(row)
        values["purpose"] = Purpose(row["purpose"])
        values["instance"] = Instance.model_validate(row["instance"])
        values["sampling"] = Sampling(**{**row["sampling"], "notes": tuple(row["sampling"]["notes"])})
        values["limits"] = Limits(**row["limits"])
        return cls(**values)
