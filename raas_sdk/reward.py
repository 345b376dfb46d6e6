"""What a grader says of a submission."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.errors import PluginFault
from raas_sdk.json_data import json_copy

__all__ = ["RESOLVED_ABOVE", "Reward"]

RESOLVED_ABOVE = 0.99


@dataclass(frozen=True, slots=True)
class Reward:
    """A score inside `range`. `resolved` None means value > 0.99; `accuracy` None means value."""

    value: float
    resolved: bool | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)
    range: tuple[float, float] = (0.0, 1.0)
    accuracy: float | None = None

    @property
    def is_resolved(self) -> bool:
        """Whether the task counts as solved."""
        return self.value > RESOLVED_ABOVE if self.resolved is None else self.resolved

    @property
    def raw_accuracy(self) -> float:
        """Correctness before any shaping."""
        return self.value if self.accuracy is None else self.accuracy

    def checked(self) -> "Reward":
        """Return self, or raise PluginFault for a value outside its range or anything that is no plain data."""
        try:
            low, high = (_number("range", bound) for bound in self.range)
            if not low <= _number("value", self.value) <= high:
                fault = f"{self.value!r} lies outside its range [{low:g}, {high:g}]; declare range=(low, high)"
                raise ValueError(fault)
            if self.accuracy is not None:
                _number("accuracy", self.accuracy)
            if not isinstance(self.resolved, bool | None):
                raise ValueError(f"resolved must be a boolean or None, got {self.resolved!r:.80}")
            for name, value in dict(self.parts).items():
                _number(f"part {name!r}", value)
            json_copy(dict(self.detail))
        except (TypeError, ValueError, OverflowError) as error:
            raise PluginFault(f"reward: {error}", code="bad_reward") from error
        return self


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r:.80}")
    return value
