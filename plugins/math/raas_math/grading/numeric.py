"""Numeric: the value of an expression at a point, to a chosen number of digits, with sizes checked before each step.

Whether two values are the same is not decided here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext  # type: ignore[import-untyped]

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Expression, Number, Symbol
from raas_math.grading.work import Work

__all__ = ["Numeric"]

LARGEST_MAGNITUDE = 2**44  # of the binary exponent: beyond it one exponential costs memory
LARGEST_ANGLE_BITS = 300
LARGEST_GAMMA_BITS = 40
PLAIN = {
    "ln": "ln", "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth",
}  # fmt: skip
CHEAP = frozenset({"add", "mul", "neg", "div", "abs", "percent", "degree"})
# mpmath keeps pi, ln 2 and others for all contexts and replaces value and precision one after the other:
# a second thread between the two would compute with a wrong constant
ONE_AT_A_TIME = threading.Lock()
UNKNOWN_BASE = Fraction(7_389_113, 1_004_527)  # \log without a base: identities hold in any, values in none


class Numeric:
    """Evaluates with its own context, so threads share nothing; `scale` and `lossy` say how far to trust a sum."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.ctx: Any = MPContext()
        self.point: Mapping[str, Fraction] = {}
        self.scale: Any = 0
        self.lossy = False

    def value(self, node: Expression, point: Mapping[str, Fraction]) -> Any:
        """The value as a real or complex number; raise `Doubt` when it is undefined, unknown or too large."""
        self.point = point
        try:
            with ONE_AT_A_TIME:
                return self.checked(self._value(node))
        except (ArithmeticError, ValueError, NotImplementedError) as error:
            raise Doubt("undefined") from error

    def checked(self, value: Any) -> Any:
        """The value itself if it is finite."""
        if not self.ctx.isfinite(value):
            raise Doubt("undefined")
        return value

    def _value(self, node: Expression) -> Any:
        if isinstance(node, Number):
            return self._rational(node.value)
        if isinstance(node, Symbol):
            return self._rational(self.point[node.name])
        if not node.args:
            return self._constant(node.op)
        args = [self._value(arg) for arg in node.args]
        self.work.spend(self.ctx.prec**2 if node.op not in CHEAP else self.ctx.prec)
        if node.op in PLAIN:
            self._small_angle(args[0])
            return getattr(self.ctx, PLAIN[node.op])(args[0])
        rule = getattr(self, f"_{node.op}", None)
        if rule is None:
            raise Doubt("unreadable")
        return rule(*args)

    def _rational(self, value: Fraction) -> Any:
        return self.ctx.mpf(value.numerator) / value.denominator

    def _constant(self, name: str) -> Any:
        if name == "inf":
            raise Doubt("infinite")
        return +{"pi": self.ctx.pi, "e": self.ctx.e, "i": self.ctx.j}[name]

    def _small_angle(self, arg: Any) -> None:
        if arg != 0 and self.ctx.mag(arg) > LARGEST_ANGLE_BITS:
            raise Doubt("too_large")

    def _add(self, *args: Any) -> Any:
        total = self.ctx.mpf(0)
        for arg in args:
            self.note(total, arg)
            total = total + arg
        return total

    def note(self, left: Any, right: Any) -> None:
        """Remember the size of what is added, and whether the smaller one falls under the rounding."""
        self.scale = max(self.scale, abs(left), abs(right))
        if left != 0 and right != 0 and abs(self.ctx.mag(left) - self.ctx.mag(right)) > self.ctx.prec / 2:
            self.lossy = True

    def _mul(self, *args: Any) -> Any:
        total = self.ctx.mpf(1)
        for arg in args:
            total = self._sized(total * arg)
        return total

    def _neg(self, arg: Any) -> Any:
        return -arg

    def _div(self, top: Any, bottom: Any) -> Any:
        return top / bottom

    def _abs(self, arg: Any) -> Any:
        return abs(arg)

    def _percent(self, arg: Any) -> Any:
        return arg / 100

    def _degree(self, arg: Any) -> Any:
        return arg * self.ctx.pi / 180

    def _floor(self, arg: Any) -> Any:
        return self.ctx.floor(self._settled(arg))

    def _ceil(self, arg: Any) -> Any:
        return self.ctx.ceil(self._settled(arg))

    def _settled(self, arg: Any) -> Any:
        if self.ctx.mag(arg) > self.ctx.prec / 2 if arg != 0 else False:
            raise Doubt("too_large")
        if 0 < abs(arg - self.ctx.nint(arg)) < self.ctx.ldexp(1, -self.ctx.prec // 3):
            raise Doubt("undecided")
        return arg

    def _factorial(self, arg: Any) -> Any:
        if self.ctx.im(arg) != 0 or arg < 0:
            raise Doubt("undefined")
        if arg != 0 and self.ctx.mag(arg) > LARGEST_GAMMA_BITS:
            raise Doubt("too_large")
        return self.ctx.gamma(arg + 1)

    def _binom(self, top: Any, bottom: Any) -> Any:
        return self._factorial(top) / (self._factorial(bottom) * self._factorial(top - bottom))

    def _exp(self, arg: Any) -> Any:
        if arg != 0 and self.ctx.mag(arg) > LARGEST_MAGNITUDE.bit_length():
            raise Doubt("too_large")
        return self._sized(self.ctx.exp(arg))

    def _log(self, arg: Any, base: Any = None) -> Any:
        return self.ctx.ln(arg) / self.ctx.ln(self._rational(UNKNOWN_BASE) if base is None else base)

    def _root(self, arg: Any, index: Any) -> Any:
        return self._pow(arg, 1 / index)

    def _pow(self, base: Any, power: Any) -> Any:
        if power == 0:
            if base == 0:
                raise Doubt("undefined")
            return self.ctx.mpf(1)
        if base == 0:
            return self.ctx.mpf(0) if self.ctx.re(power) > 0 else 1 / base
        self._bounded_power(base, power)
        odd = self._odd_root(power) if self.ctx.im(base) == 0 and self.ctx.re(base) < 0 else None
        if odd is not None:
            real = self.ctx.power(-self.ctx.re(base), power)
            return -real if odd % 2 else real
        return self.ctx.power(base, power)

    def _bounded_power(self, base: Any, power: Any) -> None:
        if self.ctx.mag(power) > 64:
            raise Doubt("too_large")
        if abs(self.ctx.mag(base) - 1) * abs(power) > LARGEST_MAGNITUDE or self.ctx.mag(power) > 45:
            raise Doubt("too_large")

    def _odd_root(self, power: Any) -> int | None:
        """The numerator of the power if it is a fraction over 3, 5, 7 or 9: those roots of a negative are real."""
        if self.ctx.im(power) != 0:
            return None
        for down in (3, 5, 7, 9):
            up = self.ctx.re(power) * down
            near = self.ctx.nint(up)
            if (
                near != 0
                and near % down
                and abs(up - near) < self.ctx.ldexp(1, -self.ctx.prec // 2)
                and abs(near) < 1000
            ):
                return int(near)
        return None

    def _sized(self, value: Any) -> Any:
        if value != 0 and abs(self.ctx.mag(value)) > 2 * LARGEST_MAGNITUDE:
            raise Doubt("too_large")
        return value
