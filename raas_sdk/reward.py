"""What a grader says of a submission."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.errors import PluginFault

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
        """Return self, or raise PluginFault if it is not a finite number within its range."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise PluginFault(f"reward value must be a number, got {self.value!r}", code="bad_reward")
        low, high = self.range
        if not math.isfinite(self.value) or not low <= self.value <= high:
            fault = f"reward {self.value!r} lies outside its range [{low:g}, {high:g}]; declare range=(low, high)"
            raise PluginFault(fault, code="bad_reward")
        return self
