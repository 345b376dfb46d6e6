"""Expression: what a formula says, as an immutable tree that nothing evaluates by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Apply", "Expression", "Number", "Symbol", "canonical", "has_decimal", "literals", "symbols", "walk"]

COMMUTATIVE = frozenset({"add", "mul"})


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
