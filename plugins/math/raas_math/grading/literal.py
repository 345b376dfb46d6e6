"""Literal: digits to exact numbers, whatever their length."""

from __future__ import annotations

import re
from fractions import Fraction

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Number

__all__ = ["repeating", "whole", "whole_or_decimal"]

CHUNK_DIGITS = 4_000  # below the limit that the interpreter puts on one conversion
LARGEST_FLOAT_EXPONENT = 5_000
REPEATING = re.compile(
    r"(\d*)\.(\d*)(?:\\(?:overline|bar)\s*\{(\d+)\}|\((\d+)\)|\\dot\s*\{?(\d)\}?(?:(\d*)\\dot\s*\{?(\d)\}?)?)"
)


def whole(digits: str) -> int:
    """The integer of a string of digits of any length."""
    value = 0
    for at in range(0, len(digits), CHUNK_DIGITS):
        chunk = digits[at : at + CHUNK_DIGITS]
        value = value * 10 ** len(chunk) + int(chunk)
    return value


def whole_or_decimal(text: str) -> Number:
    """The number of an integer, a decimal or a float such as 3e8; raise `Doubt` on an exponent beyond 5,000."""
    mantissa, _, exponent = text.lower().partition("e")
    shift = int(exponent) if 0 < len(exponent) <= 6 else 0
    if len(exponent) > 6 or abs(shift) > LARGEST_FLOAT_EXPONENT:
        raise Doubt("too_large")
    before, point, after = mantissa.partition(".")
    value = Fraction(whole(before + after), 10 ** len(after)) * Fraction(10) ** shift
    return Number(value, decimal=bool(point or exponent))


def repeating(text: str) -> Number:
    """The exact number of a decimal with repeating digits."""
    match = REPEATING.fullmatch(text)
    if match is None:
        raise Doubt("unreadable")
    before, fixed, over, bracketed, first, middle, last = match.groups()
    cycle = over or bracketed or (first or "") + (middle or "") + (last or "")
    start = Fraction(whole((before or "") + (fixed or "")), 10 ** len(fixed))
    return Number(start + Fraction(whole(cycle), (10 ** len(cycle) - 1) * 10 ** len(fixed)))
