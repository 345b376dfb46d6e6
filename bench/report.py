"""One row for each thing measured: ours beside its floor in the same run, and what is demanded of the ratio."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Row", "table"]


@dataclass(frozen=True)
class Row:
    """`value` is what the demand is about: a ratio, or a figure that needs no floor."""

    what: str
    ours: str
    floor: str
    value: float
    demand: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the demand is met."""
        return self.value >= self.demand if self.at_least else self.value <= self.demand


def table(rows: Iterable[Row]) -> str:
    """All rows, one a line."""
    lines = [f"{'':<46}{'ours':>18}{'floor':>18}{'value':>9}  demanded"]
    for row in rows:
        sign = "≥" if row.at_least else "≤"
        verdict = "" if row.holds else "  MISSED"
        figures = f"{row.ours:>18}{row.floor:>18}{row.value:>9.3f}"
        lines.append(f"{row.what:<46}{figures}  {sign} {row.demand:g}{verdict}")
    return "\n".join(lines)
