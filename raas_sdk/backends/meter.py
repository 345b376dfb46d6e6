"""How fast backends sample, measured on the replies that jobs get anyway."""

import math
from collections.abc import Mapping
from statistics import fmean

__all__ = ["SpeedMeter", "relative_speeds"]

KEPT = 0.95
"""What is kept of the past with each reply: about the last twenty count."""
EVIDENCE_SECONDS = 5.0
STEPS_PER_DOUBLING = 4
SLOWEST, FASTEST = 0.25, 4.0


class SpeedMeter:
    """The tokens per second of single replies on one backend; long replies count for more."""

    __slots__ = ("_seconds", "_tokens")

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """Count a reply."""
        self._tokens = KEPT * self._tokens + tokens
        self._seconds = KEPT * self._seconds + seconds

    @property
    def rate(self) -> float | None:
        """Tokens per second; None while there is too little to tell."""
        return self._tokens / self._seconds if self._seconds >= EVIDENCE_SECONDS and self._tokens else None


def relative_speeds(rates: Mapping[str, float]) -> dict[str, float]:
    """Each rate by the mean of all, in steps of a fifth, so that noise leaves equals equal, and within a factor of 4.

    The bounds keep a backend whose replies were slow once from never getting a job that could show otherwise.
    """
    mean = fmean(rates.values())
    return {name: _stepped(rate / mean) for name, rate in rates.items()}


def _stepped(ratio: float) -> float:
    step = round(STEPS_PER_DOUBLING * math.log2(max(ratio, SLOWEST)))
    return min(FASTEST, math.exp2(step / STEPS_PER_DOUBLING))
