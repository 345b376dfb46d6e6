"""Work: how much arithmetic one verdict may cost, counted before it is done."""

from __future__ import annotations

from raas_math.grading.doubt import Doubt

__all__ = ["Work"]

MOST_UNITS = 4_000_000_000  # about a second: one unit is the square of one bit in a function of that precision


class Work:
    """A budget that several comparisons draw on; it is spent once and never grows."""

    def __init__(self) -> None:
        self.left = MOST_UNITS

    def spend(self, units: int) -> None:
        """Take this many units; raise `Doubt` when they are not there."""
        self.left -= units
        if self.left < 0:
            raise Doubt("too_much_work")
