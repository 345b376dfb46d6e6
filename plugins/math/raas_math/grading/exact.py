"""Exact: the rational value of an expression where it has one, within a bound on the digits worked through."""

from __future__ import annotations

import math
from fractions import Fraction

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Number
from raas_math.grading.work import Work

__all__ = ["exact"]

MOST_BITS = 100_000
LARGEST_FACTORIAL = 5_000


def exact(node: Expression, work: Work) -> Fraction | None:
    """The rational value; None when it is irrational, symbolic, undefined or not recognised as rational.

    Sizes are estimated before anything is multiplied: a value beyond 100,000 bits raises `Doubt`.
    """
    return _Rational(work).value(node)


class _Rational:
    def __init__(self, work: Work) -> None:
        self.work = work

    def value(self, node: Expression) -> Fraction | None:
        if isinstance(node, Number):
            return self.counted(node.value)
        if not isinstance(node, Apply) or not node.args:
            return None
        rule = getattr(self, f"_{node.op}", None)
        if rule is None:
            return None
        args = [self.value(arg) for arg in node.args]
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args):
            return None
        found: Fraction | None = rule(*known)
        return None if found is None else self.counted(found)

    def counted(self, value: Fraction) -> Fraction:
        bits = value.numerator.bit_length() + value.denominator.bit_length()
        self.work.spend(bits * bits // 100)
        if bits > MOST_BITS:
            raise Doubt("too_large")
        return value

    def _add(self, *args: Fraction) -> Fraction:
        total = Fraction(0)
        for arg in args:
            total = self.counted(total + arg)
        return total

    def _mul(self, *args: Fraction) -> Fraction:
        total = Fraction(1)
        for arg in args:
            total = self.counted(total * arg)
        return total

    def _neg(self, arg: Fraction) -> Fraction:
        return -arg

    def _abs(self, arg: Fraction) -> Fraction:
        return abs(arg)

    def _div(self, top: Fraction, bottom: Fraction) -> Fraction | None:
        return top / bottom if bottom else None

    def _percent(self, arg: Fraction) -> Fraction:
        return arg / 100

    def _floor(self, arg: Fraction) -> Fraction:
        return Fraction(math.floor(arg))

    def _ceil(self, arg: Fraction) -> Fraction:
        return Fraction(math.ceil(arg))

    def _factorial(self, arg: Fraction) -> Fraction | None:
        if arg.denominator != 1 or arg < 0:
            return None
        if arg > LARGEST_FACTORIAL:
            raise Doubt("too_large")
        return Fraction(math.factorial(int(arg)))

    def _binom(self, top: Fraction, bottom: Fraction) -> Fraction | None:
        if top.denominator != 1 or bottom.denominator != 1 or top < 0 or bottom < 0:
            return None
        if top > LARGEST_FACTORIAL:
            raise Doubt("too_large")
        return Fraction(math.comb(int(top), int(bottom)))

    def _pow(self, base: Fraction, power: Fraction) -> Fraction | None:
        if power.denominator != 1:
            return self._root(base**power.numerator, Fraction(power.denominator)) if abs(power) < 64 else None
        if base == 0:
            return Fraction(0) if power > 0 else None
        if abs(base) == 1:
            return Fraction(1) if power % 2 == 0 else base
        bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
        if max(bits, 1) * abs(power) > MOST_BITS:
            raise Doubt("too_large")
        return base ** int(power)

    def _root(self, arg: Fraction, index: Fraction) -> Fraction | None:
        if index.denominator != 1 or not 2 <= index <= 64 or (arg < 0 and index % 2 == 0):
            return None
        top, bottom = _whole_root(abs(arg.numerator), int(index)), _whole_root(arg.denominator, int(index))
        if top is None or bottom is None:
            return None
        return Fraction(top if arg >= 0 else -top, bottom)


def _whole_root(value: int, index: int) -> int | None:
    if index == 2:
        root = math.isqrt(value)
        return root if root * root == value else None
    if value.bit_length() > 1_000:
        return None
    low, high = 0, 1 << (value.bit_length() // index + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**index <= value else (low, middle - 1)
    return low if low**index == value else None
