"""Sameness: whether two expressions say the same, decided by form, then exactly, then to many digits at many points."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from raas_math.grading.doubt import Doubt
from raas_math.grading.exact import exact
from raas_math.grading.expression import Apply, Expression, canonical, has_decimal, literals, symbols, walk
from raas_math.grading.work import Work

if TYPE_CHECKING:
    from raas_math.grading.numeric import Numeric

__all__ = ["DEFAULT_TOLERANCE", "Sameness"]

DEFAULT_TOLERANCE = 1e-6
DIGIT_LADDER = (100, 400, 1_600)
MOST_DIGITS = 4_000
MOST_SYMBOLIC_NODES = 1_500
NEEDED_POINTS = 4
TRIED_POINTS = 12

Point = Mapping[str, Fraction]
INFINITY = Apply("inf")


class Sameness:
    """Compares expressions with one tolerance, one budget of work and one context for digits."""

    def __init__(self, rel_tolerance: float = DEFAULT_TOLERANCE) -> None:
        self.rel_tolerance = rel_tolerance
        self.wide = rel_tolerance > DEFAULT_TOLERANCE
        self.work = Work()
        self._numeric: Numeric | None = None

    @property
    def numeric(self) -> Numeric:
        """The context for digits, made when it is first needed: most answers need none."""
        if self._numeric is None:
            from raas_math.grading.numeric import Numeric

            self._numeric = Numeric(self.work)
        return self._numeric

    def same(self, answer: Expression, gold: Expression) -> bool:
        """True if both have one value (at every point, with unknowns); raise `Doubt` if that cannot be decided.

        Exact numbers must be equal. Where a decimal stands on either side, or the tolerance is wider than the
        default, a difference of the tolerance times the gold is forgiven; two whole numbers are never so close by
        default.
        """
        if canonical(answer) == canonical(gold):
            return True
        if _calls(answer) or _calls(gold):
            return self._same_calls(answer, gold)
        if INFINITY in (*walk(answer), *walk(gold)):
            return False
        left, right = self._exact(answer, gold)
        if left is not None and right is not None:
            return self.close(left, right, decimal=_forgiving(answer, gold))
        return self._same_values(answer, gold)

    def close(self, answer: Fraction, gold: Fraction, *, decimal: bool) -> bool:
        """True if two rational numbers are equal, or differ by no more than the tolerance where it applies."""
        if answer == gold:
            return True
        if not self.wide and (not decimal or answer.denominator == gold.denominator == 1):
            return False
        return abs(answer - gold) <= Fraction(self.rel_tolerance) * abs(gold)

    def about(self, answer: Expression, gold: Expression, rel_tolerance: float) -> bool:
        """Same, with another tolerance, on the same budget."""
        wider = Sameness(rel_tolerance)
        wider.work, wider._numeric = self.work, self._numeric
        return wider.same(answer, gold)

    def order(self, left: Expression, right: Expression) -> int:
        """-1, 0 or 1 as the real number on the left is below, equal to or above the right one; infinities count."""
        ends = [_infinity_sign(side) for side in (left, right)]
        if any(ends):
            return (ends[0] > ends[1]) - (ends[0] < ends[1])
        if self.same(left, right):
            return 0
        if symbols(left) or symbols(right):
            raise Doubt("undecided")
        values = self._values(left, right, {}, DIGIT_LADDER[1])
        if any(self.numeric.ctx.im(value) for value in values):
            raise Doubt("not_real")
        return 1 if values[0] > values[1] else -1

    def proportion(self, left: Expression, right: Expression) -> int:
        """The sign of c where left = c * right at every point with one real c; 0 when there is none."""
        names = sorted(symbols(left))
        if not names or set(names) != symbols(right):
            return 0
        digits, ratios = DIGIT_LADDER[0] + 2 * _longest_literal(left, right), []
        for point in _points(names):
            try:
                above, below = self._values(left, right, point, digits)
            except Doubt as doubt:
                if doubt.reason != "undefined":
                    raise
                continue
            if below == 0 or above == 0:
                return 0
            ratios.append(above / below)
            if len(ratios) == NEEDED_POINTS:
                return _one_sign(ratios, self.numeric.ctx)
        raise Doubt("undefined")

    def _same_calls(self, answer: Expression, gold: Expression) -> bool:
        if not (isinstance(answer, Apply) and isinstance(gold, Apply)) or answer.op != gold.op:
            return False
        if len(answer.args) != len(gold.args):
            return False
        return all(self.same(left, right) for left, right in zip(answer.args, gold.args, strict=True))

    def _exact(self, answer: Expression, gold: Expression) -> tuple[Fraction | None, Fraction | None]:
        try:
            return exact(answer, self.work), exact(gold, self.work)
        except Doubt as doubt:
            if doubt.reason != "too_large":
                raise
            return None, None

    def _same_values(self, answer: Expression, gold: Expression) -> bool:
        names = sorted(symbols(answer) | symbols(gold))
        if not names:
            return self._agree(answer, gold, {})
        if sum(1 for side in (answer, gold) for _ in walk(side)) > MOST_SYMBOLIC_NODES:
            raise Doubt("too_long")
        agreed, failed = 0, Doubt("undefined")
        for point in _points(names):
            try:
                if not self._agree(answer, gold, point):
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

    def _values(self, answer: Expression, gold: Expression, point: Point, digits: int) -> tuple[Any, Any]:
        self.numeric.ctx.dps = digits
        self.numeric.scale, self.numeric.lossy = 0, False
        return self.numeric.value(answer, point), self.numeric.value(gold, point)

    def _agree(self, answer: Expression, gold: Expression, point: Point) -> bool:
        longest = _longest_literal(answer, gold)
        for digits in (step + 2 * longest for step in DIGIT_LADDER):
            if digits > MOST_DIGITS:
                break
            verdict = self._agree_to(
                digits, self._values(answer, gold, point, digits), decimal=_forgiving(answer, gold)
            )
            if verdict is not None:
                return verdict
        raise Doubt("undecided")

    def _agree_to(self, digits: int, values: tuple[Any, Any], *, decimal: bool) -> bool | None:
        """True or False, or None when more digits are needed."""
        answer, gold = values
        ctx, scale, size = self.numeric.ctx, self.numeric.scale, max(abs(answer), abs(gold))
        difference = abs(answer - gold)
        if (decimal or self.wide) and difference <= self.rel_tolerance * abs(gold):
            return True
        if difference > ctx.mpf(10) ** (20 - digits) * max(size, scale):
            return False
        if self.numeric.lossy:
            return None
        if scale <= ctx.mpf(10) ** (digits // 4) * size or digits >= DIGIT_LADDER[-1]:
            return True
        return None


def _forgiving(answer: Expression, gold: Expression) -> bool:
    return has_decimal(answer) or has_decimal(gold)


def _infinity_sign(node: Expression) -> int:
    if node == INFINITY:
        return 1
    return -1 if node == Apply("neg", (INFINITY,)) else 0


def _calls(node: Expression) -> bool:
    return any(isinstance(part, Apply) and part.op.startswith("call:") for part in walk(node))


def _one_sign(ratios: list[Any], ctx: Any) -> int:
    small = ctx.mpf(10) ** -60 * abs(ratios[0])
    if any(abs(ratio - ratios[0]) > small for ratio in ratios) or abs(ctx.im(ratios[0])) > small:
        return 0
    return 1 if ctx.re(ratios[0]) > 0 else -1


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


def _longest_literal(answer: Expression, gold: Expression) -> int:
    sizes = (
        value.numerator.bit_length() + value.denominator.bit_length()
        for side in (answer, gold)
        for value in literals(side)
    )
    return int(max(sizes, default=0) * 0.302)
