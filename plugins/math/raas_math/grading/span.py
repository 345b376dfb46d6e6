"""Span: one stretch of the real line, and what spans make together. Where spans come from is not said here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Expression

__all__ = ["Order", "Span", "intersected", "merged", "same_span"]

Order = Callable[[Expression, Expression], int]


@dataclass(frozen=True, slots=True)
class Span:
    """From `low` to `high`, each end in it or not."""

    low: Expression
    high: Expression
    low_closed: bool = False
    high_closed: bool = False


def same_span(one: Span, other: Span, order: Order) -> bool:
    """True when both have the same ends, in or not."""
    if (one.low_closed, one.high_closed) != (other.low_closed, other.high_closed):
        return False
    return _same_end(one.low, other.low, order) and _same_end(one.high, other.high, order)


def _same_end(one: Expression, other: Expression, order: Order) -> bool:
    try:
        return order(one, other) == 0
    except Doubt as doubt:
        if doubt.reason == "undecided":
            return False
        raise


def intersected(left: tuple[Span, ...], right: tuple[Span, ...], order: Order) -> tuple[Span, ...]:
    """The spans that lie in both."""
    found = [_common(one, other, order) for one in left for other in right]
    return tuple(span for span in found if span is not None)


def _common(one: Span, other: Span, order: Order) -> Span | None:
    low, high = order(one.low, other.low), order(one.high, other.high)
    bottom = one if low > 0 else other
    top = one if high < 0 else other
    low_closed = one.low_closed and other.low_closed if low == 0 else bottom.low_closed
    high_closed = one.high_closed and other.high_closed if high == 0 else top.high_closed
    span = Span(bottom.low, top.high, low_closed, high_closed)
    return None if _is_empty(span, order) else span


def _is_empty(span: Span, order: Order) -> bool:
    turn = order(span.low, span.high)
    return turn > 0 or (turn == 0 and not (span.low_closed and span.high_closed))


def merged(spans: tuple[Span, ...], order: Order) -> tuple[Span, ...]:
    """The spans in order, touching and overlapping ones made one, empty ones left out."""
    solid = [span for span in spans if not _is_empty(span, order)]

    def by_low(one: Span, other: Span) -> int:
        return order(one.low, other.low) or other.low_closed - one.low_closed

    kept = sorted(solid, key=cmp_to_key(by_low))
    found: list[Span] = []
    for span in kept:
        if found and _touches(found[-1], span, order):
            found[-1] = _hull(found[-1], span, order)
        else:
            found.append(span)
    return tuple(found)


def _touches(before: Span, after: Span, order: Order) -> bool:
    turn = order(before.high, after.low)
    return turn > 0 or (turn == 0 and (before.high_closed or after.low_closed))


def _hull(before: Span, after: Span, order: Order) -> Span:
    turn = order(before.high, after.high)
    top = before if turn > 0 else after
    closed = before.high_closed or after.high_closed if turn == 0 else top.high_closed
    return Span(before.low, top.high, before.low_closed, closed)
