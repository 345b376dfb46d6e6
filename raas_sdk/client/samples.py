"""Which rollouts a batch asks for: n samples of each instance, each under a name that never changes."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

__all__ = ["Sample", "SamplePlan", "instance_digest"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One rollout to ask for. (`digest`, `sample_index`) is unique in a batch."""

    instance: Mapping[str, Any]
    digest: str
    sample_index: int
    body: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, int]:
        """What a results file finds it by."""
        return self.digest, self.sample_index


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """How a batch is sampled. `name` goes into the job ids: another name means new samples of the same tasks."""

    name: str
    samples: int = 1
    sampling_params: Mapping[str, Any] = field(default_factory=dict)
    purpose: str = "train"
    pool: str = "default"

    @property
    def digest(self) -> str:
        """Tells batches with other parameters apart."""
        return _hash([self.sampling_params, self.purpose, self.pool])[:16]

    def expand(self, instances: Iterable[Mapping[str, Any]]) -> Iterator[Sample]:
        """All samples; an instance that stands in the file twice is sampled twice as often."""
        seen: Counter[str] = Counter()
        for instance in instances:
            digest = instance_digest(instance)
            first = seen[digest]
            seen[digest] += self.samples
            for index in range(first, first + self.samples):
                yield Sample(instance, digest, index, self._body(instance, digest, index))

    def _body(self, instance: Mapping[str, Any], digest: str, index: int) -> dict[str, Any]:
        return {
            "instance": instance,
            "sampling_params": dict(self.sampling_params),
            "job_id": _hash([self.name, self.digest, digest, index])[:32],
            "group_id": digest[:32],
            "sample_index": index,
            "purpose": self.purpose,
            "pool": self.pool,
        }


def instance_digest(instance: Mapping[str, Any]) -> str:
    """The digest that results call `instance_digest`."""
    return _hash(instance)


def _hash(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()
