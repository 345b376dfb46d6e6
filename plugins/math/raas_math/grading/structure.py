"""Structure: what an answer is as a whole: a value, words, a list, a set, a pair, a matrix, a relation, a time."""

from __future__ import annotations

from dataclasses import dataclass

from raas_math.grading.expression import Expression
from raas_math.grading.unit import Unit

__all__ = [
    "Based",
    "Bracketed",
    "Clock",
    "Listing",
    "Matrix",
    "Ratio",
    "Relation",
    "Structure",
    "Union",
    "Unread",
    "Value",
    "Words",
]


@dataclass(frozen=True, slots=True)
class Value:
    """One value, with its unit if one is written."""

    node: Expression
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Plain words, folded: lower case, single blanks."""

    text: str


@dataclass(frozen=True, slots=True)
class Based:
    """Digits in a named base; the digits are the answer, not the value."""

    digits: str
    base: str


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day or a span; `half` is am, pm or empty."""

    parts: tuple[int, ...]
    half: str = ""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Values with colons between them."""

    items: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Values without an order; `braces` when they were written as a set, `joint` when `and` joins conditions."""

    items: tuple[Structure, ...]
    braces: bool = False
    joint: bool = False


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Values in an order: a pair, a vector, an interval. The brackets are part of what it says."""

    opener: str
    items: tuple[Structure, ...]
    closer: str


@dataclass(frozen=True, slots=True)
class Union:
    """Sets joined as one."""

    parts: tuple[Structure, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of values; `kind` is matrix or det (bars)."""

    rows: tuple[tuple[Structure, ...], ...]
    kind: str = "matrix"


@dataclass(frozen=True, slots=True)
class Relation:
    """Sides with `=`, `<`, `<=`, `>`, `>=`, `!=`, `~` (about) or `in` between them."""

    sides: tuple[Structure, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """Text that no rule reads; equal to nothing, except by being the same text."""

    text: str
    reason: str


Structure = Value | Words | Based | Clock | Ratio | Listing | Bracketed | Union | Matrix | Relation | Unread
