"""Expression: what a formula says, as an immutable tree that nothing evaluates by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

__all__ = [
    "Apply",
    "Expression",
    "Number",
    "Symbol",
    "canonical",
    "has_decimal",
    "is_unfinished",
    "literals",
    "symbols",
    "walk",
]

COMMUTATIVE = frozenset({"add", "mul"})
WRITTEN = frozenset({"neg", "div", "percent"})


@dataclass(frozen=True, slots=True)
class Number:
    """A literal; `decimal` when it was written with a decimal point or as a float."""

    value: Fraction
    decimal: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """An unknown such as `x` or `a_1`."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on arguments: `add`, `mul`, `pow`, `sin`, ... and the constants `pi`, `e`, `i`, `inf`."""

    op: str
    args: tuple[Expression, ...] = ()


Expression = Number | Symbol | Apply


def walk(node: Expression) -> Iterator[Expression]:
    """Yield the node and everything under it."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, Apply):
            stack.extend(top.args)


def symbols(node: Expression) -> frozenset[str]:
    """The names of the unknowns."""
    return frozenset(part.name for part in walk(node) if isinstance(part, Symbol))


def has_decimal(node: Expression) -> bool:
    """True when any literal in it is a decimal, so that rounding must be forgiven."""
    return any(part.decimal for part in walk(node) if isinstance(part, Number))


def is_unfinished(node: Expression) -> bool:
    """True for arithmetic that was not carried out, such as 23 + 48: an echo of the question, no answer to it.

    A sign, a fraction, a percentage and a power of ten with its factor are ways to write a number.
    """
    if isinstance(node, Number | Symbol):
        return False
    if node.op in WRITTEN:
        return any(is_unfinished(arg) for arg in node.args)
    return bool(node.args) and not _is_power_of_ten(node) and not symbols(node)


def _is_power_of_ten(node: Apply) -> bool:
    if node.op == "mul" and len(node.args) == 2:
        factor, power = node.args
        thousands = isinstance(power, Number) and power.value in (10**3, 10**6, 10**9, 10**12)
        return not is_unfinished(factor) and (thousands or (isinstance(power, Apply) and _is_power_of_ten(power)))
    base, *rest = node.args
    return node.op == "pow" and isinstance(base, Number) and base.value == 10 and not any(map(is_unfinished, rest))


def literals(node: Expression) -> Iterator[Fraction]:
    """Yield the value of each literal."""
    return (part.value for part in walk(node) if isinstance(part, Number))


def canonical(node: Expression) -> Expression:
    """The same expression with nested sums and products flattened and put in one order, nothing computed."""
    if isinstance(node, Number):
        return Number(node.value)
    if isinstance(node, Symbol):
        return node
    args = [canonical(arg) for arg in node.args]
    if node.op not in COMMUTATIVE:
        return Apply(node.op, tuple(args))
    flat: list[Expression] = []
    for arg in args:
        flat.extend(arg.args if isinstance(arg, Apply) and arg.op == node.op else (arg,))
    return Apply(node.op, tuple(sorted(flat, key=_order)))


def _order(node: Expression) -> tuple[str, int]:
    return type(node).__name__, hash(node)
