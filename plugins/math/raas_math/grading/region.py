"""Region: sets of real numbers as spans, from intervals, inequalities, unions and points."""

from __future__ import annotations

from dataclasses import dataclass

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Symbol, symbols
from raas_math.grading.span import Order, Span, intersected, merged, same_span
from raas_math.grading.structure import Bracketed, Listing, Relation, Structure, Union, Value, Words

__all__ = ["Region", "is_region", "region", "same_regions"]

INFINITY = Apply("inf")
MINUS_INFINITY = Apply("neg", (INFINITY,))
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
MOST_SPANS = 40


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


def region(structure: Structure, order: Order) -> Region | None:
    """The set it says, or None when it says no set of reals of one unknown."""
    match structure:
        case Relation():
            return _from_relation(structure, order)
        case Union(parts=parts):
            return _joined([region(part, order) for part in parts])
        case Bracketed(opener=("(" | "[") as opener, items=(low, high), closer=(")" | "]") as closer):
            ends = _end(low), _end(high)
            if ends[0] is None or ends[1] is None:
                return None
            return Region((_span(ends[0], ends[1], low_closed=opener == "[", high_closed=closer == "]"),))
        case Listing(items=items, braces=True) if not is_region(structure):
            return _points(items)
        case Listing(items=items, joint=joint):
            return _joined([region(item, order) for item in items], order if joint else None)
        case Words(text="\\reals"):
            return Region((EVERYTHING,))
    return None


def same_regions(left: Region, right: Region, order: Order) -> bool:
    """True when both hold the same numbers; different unknowns make them different."""
    if left.name and right.name and left.name != right.name:
        return False
    if len(left.spans) > 1 or len(right.spans) > 1:
        left, right = Region(merged(left.spans, order)), Region(merged(right.spans, order))
    if len(left.spans) != len(right.spans):
        return False
    return all(same_span(one, other, order) for one, other in zip(left.spans, right.spans, strict=True))


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


def _from_relation(relation: Relation, order: Order) -> Region | None:
    if relation.signs == ("in",):
        found, side = region(relation.sides[1], order), relation.sides[0]
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


def _joined(parts: list[Region | None], order: Order | None = None) -> Region | None:
    """All parts as one region; with an order, what lies in all of them."""
    known = [part for part in parts if part is not None]
    names = {part.name for part in known if part.name}
    if len(known) < len(parts) or len(names) > 1:
        return None
    spans = known[0].spans
    for part in known[1:]:
        spans = intersected(spans, part.spans, order) if order else spans + part.spans
        if len(spans) > MOST_SPANS:
            raise Doubt("too_long")
    return Region(spans, names.pop() if names else "")
