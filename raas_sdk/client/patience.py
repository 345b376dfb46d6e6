"""How often and how long the client tries again."""

import math
from dataclasses import dataclass
from random import Random

__all__ = ["Patience"]


@dataclass(frozen=True, slots=True)
class Patience:
    """At most `tries` of a call, with waits that double from `first_seconds` to `longest_seconds`.

    What the server asks for in Retry-After is respected up to `longest_seconds`.
    """

    tries: int = 6
    first_seconds: float = 0.5
    longest_seconds: float = 15.0

    def wait_seconds(self, failed: int, rng: Random, *, asked: str | None = None) -> float:
        """How long to wait after so many failed tries."""
        doubled = min(self.first_seconds * 2.0 ** (failed - 1), self.longest_seconds)
        return max(doubled * rng.uniform(0.5, 1.0), min(_seconds(asked), self.longest_seconds))


def _seconds(text: str | None) -> float:
    try:
        seconds = float(text or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
