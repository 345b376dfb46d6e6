"""How long to wait between tries, and when to give up."""

from dataclasses import dataclass
from random import Random

__all__ = ["Backoff"]


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double up to `longest_seconds`, each shortened by up to half at random.

    A call to one backend is given up after `max_attempts` tries, or when the next would start later than
    `give_up_seconds` after the first fault. The caller's own budget may end it earlier.
    """

    max_attempts: int = 3
    give_up_seconds: float = 60.0
    first_seconds: float = 0.25
    longest_seconds: float = 10.0

    def wait_seconds(self, tries: int, rng: Random, *, retry_after: float | None = None) -> float:
        """Seconds to wait after this many tries; never less than the server asked for."""
        full = min(self.longest_seconds, self.first_seconds * 2.0 ** min(tries - 1, 64))
        return max(full * rng.uniform(0.5, 1.0), retry_after or 0.0)

    def allows(self, tries: int, *, seconds_since_fault: float) -> bool:
        """Whether another try may start then."""
        return tries < self.max_attempts and seconds_since_fault <= self.give_up_seconds
