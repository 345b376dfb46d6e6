"""Region: sets of real numbers as spans, from intervals, inequalities, unions and points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Symbol, symbols
from raas_math.grading.sameness import order
from raas_math.grading.structure import Bracketed, Listing, Relation, Structure, Union, Value, Words

__all__ = ["Region", "Span", "is_region", "region", "same_regions"]

INFINITY = Apply("inf")
MINUS_INFINITY = Apply("neg", (INFINITY,))
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
MOST_SPANS = 40


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high`, each end in it or not."""

    low: Expression
    high: Expression
    low_closed: bool = False
    high_closed: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """Spans of one unknown; `name` is empty when none was written."""

    spans: tuple[Span, ...]
    name: str = ""


EVERYTHING = Span(MINUS_INFINITY, INFINITY)


def is_region(structure: Structure) -> bool:
    """True when it can only be a set of reals: an inequality, a union, a half-open or an unbounded interval."""
    match structure:
        case Relation(sides=sides, signs=signs):
            return signs[0] not in ("=", "~", "in") or (signs == ("in",) and is_region(sides[1]))
        case Union():
            return True
        case Bracketed(opener=opener, items=items, closer=closer):
            mixed = (opener, closer) in (("(", "]"), ("[", ")"))
            return len(items) == 2 and (mixed or any(_end(item) in (INFINITY, MINUS_INFINITY) for item in items))
        case Listing(items=items):
            return any(isinstance(item, Relation) and is_region(item) for item in items)
        case Words(text=text):
            return text == "\\reals"
    return False


def region(structure: Structure) -> Region | None:
    """The set it says, or None when it says no set of reals of one unknown."""
    match structure:
        case Relation():
            return _from_relation(structure)
        case Union(parts=parts):
            return _joined([region(part) for part in parts], _united)
        case Bracketed(opener=("(" | "[") as opener, items=(low, high), closer=(")" | "]") as closer):
            ends = _end(low), _end(high)
            if ends[0] is None or ends[1] is None:
                return None
            return Region((_span(ends[0], ends[1], low_closed=opener == "[", high_closed=closer == "]"),))
        case Listing(items=items, braces=True) if not is_region(structure):
            return _points(items)
        case Listing(items=items, joint=joint):
            return _joined([region(item) for item in items], _intersected if joint else _united)
        case Words(text="\\reals"):
            return Region((EVERYTHING,))
    return None


def same_regions(left: Region, right: Region) -> bool:
    """True when both hold the same numbers; different unknowns make them different."""
    if left.name and right.name and left.name != right.name:
        return False
    if len(left.spans) > 1 or len(right.spans) > 1:
        left, right = Region(_merged(left.spans)), Region(_merged(right.spans))
    if len(left.spans) != len(right.spans):
        return False
    return all(_same_span(one, other) for one, other in zip(left.spans, right.spans, strict=True))


def _same_span(one: Span, other: Span) -> bool:
    if (one.low_closed, one.high_closed) != (other.low_closed, other.high_closed):
        return False
    return _same_end(one.low, other.low) and _same_end(one.high, other.high)


def _same_end(one: Expression, other: Expression) -> bool:
    try:
        return order(one, other) == 0
    except Doubt as doubt:
        if doubt.reason == "undecided":
            return False
        raise


def _end(structure: Structure) -> Expression | None:
    return structure.node if isinstance(structure, Value) and structure.unit is None else None


def _span(low: Expression, high: Expression, *, low_closed: bool, high_closed: bool) -> Span:
    """A span; an infinite end is never in it, however it was written."""
    return Span(low, high, low_closed and low != MINUS_INFINITY, high_closed and high != INFINITY)


def _point(at: Expression) -> Span:
    return Span(at, at, low_closed=True, high_closed=True)


def _points(items: tuple[Structure, ...]) -> Region | None:
    ends = [_end(item) for item in items]
    known = [end for end in ends if end is not None]
    return Region(tuple(_point(end) for end in known)) if len(known) == len(ends) else None


def _from_relation(relation: Relation) -> Region | None:
    if relation.signs == ("in",):
        found, side = region(relation.sides[1]), relation.sides[0]
        name = side.node.name if isinstance(side, Value) and isinstance(side.node, Symbol) else ""
        return Region(found.spans, name) if found else None
    sides = [_end(side) for side in relation.sides]
    if relation.signs == ("=",) and isinstance(sides[0], Symbol) and sides[1] is not None:
        return Region((_point(sides[1]),), sides[0].name)
    if any(side is None for side in sides):
        return None
    return _from_inequality([side for side in sides if side is not None], list(relation.signs))


def _from_inequality(sides: list[Expression], signs: list[str]) -> Region | None:
    if len(sides) == 2 and not isinstance(sides[0], Symbol):
        sides, signs = sides[::-1], [FLIPPED.get(signs[0], signs[0])]
    if len(sides) == 2:
        unknown, end = sides
        if not isinstance(unknown, Symbol) or unknown.name in symbols(end):
            return None
        return Region(_ray(end, signs[0]), unknown.name) if _ray(end, signs[0]) else None
    if len(sides) != 3 or not isinstance(sides[1], Symbol) or len({sign[0] for sign in signs}) != 1:
        return None
    if signs[0][0] == ">":
        sides, signs = sides[::-1], [FLIPPED[sign] for sign in signs[::-1]]
    low, unknown, high = sides
    if signs[0][0] != "<" or not isinstance(unknown, Symbol):
        return None
    return Region((_span(low, high, low_closed=signs[0] == "<=", high_closed=signs[1] == "<="),), unknown.name)


def _ray(end: Expression, sign: str) -> tuple[Span, ...]:
    if sign in ("<", "<="):
        return (Span(MINUS_INFINITY, end, high_closed=sign == "<="),)
    if sign in (">", ">="):
        return (Span(end, INFINITY, low_closed=sign == ">="),)
    if sign == "!=":
        return (Span(MINUS_INFINITY, end), Span(end, INFINITY))
    return ()


Combine = Callable[[tuple[Span, ...], tuple[Span, ...]], tuple[Span, ...]]


def _joined(parts: list[Region | None], combine: Combine) -> Region | None:
    known = [part for part in parts if part is not None]
    names = {part.name for part in known if part.name}
    if len(known) < len(parts) or len(names) > 1:
        return None
    spans = known[0].spans
    for part in known[1:]:
        spans = combine(spans, part.spans)
        if len(spans) > MOST_SPANS:
            raise Doubt("too_long")
    return Region(spans, names.pop() if names else "")


def _united(left: tuple[Span, ...], right: tuple[Span, ...]) -> tuple[Span, ...]:
    return left + right


def _intersected(left: tuple[Span, ...], right: tuple[Span, ...]) -> tuple[Span, ...]:
    found = [_common(one, other) for one in left for other in right]
    return tuple(span for span in found if span is not None)


def _common(one: Span, other: Span) -> Span | None:
    low, high = order(one.low, other.low), order(one.high, other.high)
    bottom = one if low > 0 else other
    top = one if high < 0 else other
    low_closed = one.low_closed and other.low_closed if low == 0 else bottom.low_closed
    high_closed = one.high_closed and other.high_closed if high == 0 else top.high_closed
    span = Span(bottom.low, top.high, low_closed, high_closed)
    return None if _is_empty(span) else span


def _is_empty(span: Span) -> bool:
    turn = order(span.low, span.high)
    return turn > 0 or (turn == 0 and not (span.low_closed and span.high_closed))


def _merged(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The spans in order, touching and overlapping ones made one, empty ones left out."""
    kept = sorted((span for span in spans if not _is_empty(span)), key=cmp_to_key(_by_low))
    found: list[Span] = []
    for span in kept:
        if found and _touches(found[-1], span):
            found[-1] = _hull(found[-1], span)
        else:
            found.append(span)
    return tuple(found)


def _by_low(one: Span, other: Span) -> int:
    return order(one.low, other.low) or other.low_closed - one.low_closed


def _touches(before: Span, after: Span) -> bool:
    turn = order(before.high, after.low)
    return turn > 0 or (turn == 0 and (before.high_closed or after.low_closed))


def _hull(before: Span, after: Span) -> Span:
    turn = order(before.high, after.high)
    top = before if turn > 0 else after
    closed = before.high_closed or after.high_closed if turn == 0 else top.high_closed
    return Span(before.low, top.high, before.low_closed, closed)
