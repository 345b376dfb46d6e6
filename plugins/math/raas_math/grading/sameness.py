"""Sameness: whether two expressions say the same, decided by form, then exactly, then to many digits at many points."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from raas_math.grading.doubt import Doubt
from raas_math.grading.exact import exact
from raas_math.grading.expression import Apply, Expression, canonical, has_decimal, literals, symbols, walk

if TYPE_CHECKING:
    from raas_math.grading.numeric import Numeric

__all__ = ["DEFAULT_TOLERANCE", "close", "order", "proportion", "same"]

DEFAULT_TOLERANCE = 1e-6
DIGIT_LADDER = (100, 400, 1_600)
MOST_DIGITS = 4_000
MOST_SYMBOLIC_NODES = 1_500
NEEDED_POINTS = 4
TRIED_POINTS = 12

Point = Mapping[str, Fraction]


def same(answer: Expression, gold: Expression, *, rel_tolerance: float = DEFAULT_TOLERANCE) -> bool:
    """True if both have one value (at every point, with unknowns); raise `Doubt` if that cannot be decided.

    Exact numbers must be equal. Where a decimal stands on either side, or the tolerance is wider than the default,
    a difference of `rel_tolerance` times the gold is forgiven; two whole numbers are never so close by default.
    """
    if canonical(answer) == canonical(gold):
        return True
    if _calls(answer) or _calls(gold):
        return _same_calls(answer, gold, rel_tolerance)
    if _infinite(answer) or _infinite(gold):
        return False
    try:
        left, right = exact(answer), exact(gold)
    except Doubt:
        left = right = None
    if left is not None and right is not None:
        return close(left, right, decimal=has_decimal(answer) or has_decimal(gold), rel_tolerance=rel_tolerance)
    return _same_values(answer, gold, rel_tolerance)


def close(answer: Fraction, gold: Fraction, *, decimal: bool, rel_tolerance: float) -> bool:
    """True if two rational numbers are equal, or differ by no more than the tolerance where it applies."""
    if answer == gold:
        return True
    strict = rel_tolerance <= DEFAULT_TOLERANCE
    if strict and (not decimal or answer.denominator == gold.denominator == 1):
        return False
    return abs(answer - gold) <= Fraction(rel_tolerance) * abs(gold)


def order(left: Expression, right: Expression) -> int:
    """-1, 0 or 1 as the real number on the left is below, equal to or above the right one; infinities count."""
    ends = [_infinity_sign(side) for side in (left, right)]
    if any(ends):
        return (ends[0] > ends[1]) - (ends[0] < ends[1])
    if same(left, right):
        return 0
    if symbols(left) or symbols(right):
        raise Doubt("undecided")
    pair = _Pair(left, right)
    values = pair.values({}, MOST_DIGITS // 10)
    if any(pair.numeric.ctx.im(value) for value in values):
        raise Doubt("not_real")
    return 1 if values[0] > values[1] else -1


def proportion(left: Expression, right: Expression) -> int:
    """The sign of c where left = c * right at every point with one real c; 0 when there is none."""
    names = sorted(symbols(left))
    if not names or set(names) != symbols(right):
        return 0
    pair, ratios = _Pair(left, right), []
    for point in _points(names):
        try:
            above, below = pair.values(point, DIGIT_LADDER[0] + 2 * pair.extra_digits)
        except Doubt:
            continue
        if below == 0 or above == 0:
            return 0
        ratios.append(above / below)
        if len(ratios) == NEEDED_POINTS:
            return _one_sign(ratios, pair.numeric.ctx)
    raise Doubt("undefined")


def _one_sign(ratios: list[Any], ctx: Any) -> int:
    small = ctx.mpf(10) ** -60 * abs(ratios[0])
    if any(abs(ratio - ratios[0]) > small for ratio in ratios) or abs(ctx.im(ratios[0])) > small:
        return 0
    return 1 if ctx.re(ratios[0]) > 0 else -1


def _infinity_sign(node: Expression) -> int:
    if node == Apply("inf"):
        return 1
    if node == Apply("neg", (Apply("inf"),)):
        return -1
    return 0


def _infinite(node: Expression) -> bool:
    return any(isinstance(part, Apply) and part.op == "inf" for part in walk(node))


def _calls(node: Expression) -> bool:
    return any(isinstance(part, Apply) and part.op.startswith("call:") for part in walk(node))


def _same_calls(answer: Expression, gold: Expression, rel_tolerance: float) -> bool:
    if not (isinstance(answer, Apply) and isinstance(gold, Apply)) or answer.op != gold.op:
        return False
    if len(answer.args) != len(gold.args):
        return False
    pairs = zip(answer.args, gold.args, strict=True)
    return all(same(left, right, rel_tolerance=rel_tolerance) for left, right in pairs)


def _same_values(answer: Expression, gold: Expression, rel_tolerance: float) -> bool:
    names = sorted(symbols(answer) | symbols(gold))
    if not names:
        return _Pair(answer, gold).agree({}, rel_tolerance)
    if sum(1 for side in (answer, gold) for _ in walk(side)) > MOST_SYMBOLIC_NODES:
        raise Doubt("too_long")
    pair, agreed, failed = _Pair(answer, gold), 0, Doubt("undefined")
    for point in _points(names):
        try:
            if not pair.agree(point, rel_tolerance):
                return False
        except Doubt as doubt:
            failed = doubt
            if doubt.reason not in ("undefined", "undecided"):
                raise
            continue
        agreed += 1
        if agreed == NEEDED_POINTS:
            return True
    raise failed


def _points(names: list[str]) -> list[Point]:
    """Fixed points: positive ones, mixed signs, larger ones; the same for every call, so verdicts repeat."""
    draw = random.Random(20_011)
    points: list[Point] = []
    for index in range(TRIED_POINTS):
        reach = (2, 2, 9, 3)[index % 4]
        signs = (1,) if index % 4 in (0, 2) else (1, -1)
        values = (Fraction(draw.randrange(101, 997 * reach), 997) * draw.choice(signs) for _ in names)
        points.append(dict(zip(names, values, strict=True)))
    points[1] = {name: -abs(value) for name, value in points[1].items()}
    return points


class _Pair:
    def __init__(self, answer: Expression, gold: Expression) -> None:
        # imported here: reading a text that needs no digits should not load it
        from raas_math.grading.numeric import Numeric

        self.sides = (answer, gold)
        self.forgiving = has_decimal(answer) or has_decimal(gold)
        self.numeric: Numeric = Numeric()
        self.extra_digits = _longest_literal(answer, gold)

    def values(self, point: Point, digits: int) -> tuple[Any, Any]:
        self.numeric.ctx.dps = digits
        self.numeric.scale, self.numeric.lossy = 0, False
        answer, gold = (self.numeric.value(side, point) for side in self.sides)
        return answer, gold

    def agree(self, point: Point, rel_tolerance: float) -> bool:
        for digits in (step + 2 * self.extra_digits for step in DIGIT_LADDER):
            if digits > MOST_DIGITS:
                break
            verdict = self._agree_to(digits, point, rel_tolerance)
            if verdict is not None:
                return verdict
        raise Doubt("undecided")

    def _agree_to(self, digits: int, point: Point, rel_tolerance: float) -> bool | None:
        """True or False, or None when more digits are needed."""
        answer, gold = self.values(point, digits)
        ctx, size = self.numeric.ctx, max(abs(answer), abs(gold))
        difference = abs(answer - gold)
        if (self.forgiving or rel_tolerance > DEFAULT_TOLERANCE) and difference <= rel_tolerance * abs(gold):
            return True
        if difference > ctx.mpf(10) ** (20 - digits) * max(size, self.numeric.scale):
            return False
        if self.numeric.lossy:
            return None
        if self.numeric.scale <= ctx.mpf(10) ** (digits // 4) * size or digits >= DIGIT_LADDER[-1]:
            return True
        return None


def _longest_literal(answer: Expression, gold: Expression) -> int:
    sizes = (
        value.numerator.bit_length() + value.denominator.bit_length()
        for side in (answer, gold)
        for value in literals(side)
    )
    return int(max(sizes, default=0) * 0.302)
