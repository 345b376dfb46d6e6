"""Relation: equations and inequalities: the value behind a label, and whether two of them have the same solutions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Number, Symbol, walk
from raas_math.grading.sameness import Sameness
from raas_math.grading.structure import Relation, Structure, Unread, Value, Words

__all__ = ["Behind", "behind", "label", "same_relations"]

NAME = re.compile(r"[^\d+*/^<>=-]+")


def label(relation: Relation) -> str | None:
    """The name in front of the value (`x`, `f(x)`, `Area`), or None when both sides say something."""
    if not set(relation.signs) <= {"=", "~", "in"}:
        return None
    first, last = relation.sides[0], relation.sides[-1]
    name = _name(first)
    if name is None and len(relation.sides) == 2:
        name = _name(last) if isinstance(last, Value) and isinstance(last.node, Symbol) else None
    return name


@dataclass(frozen=True, slots=True)
class Behind:
    """What stands behind a label: the value, and further sides that claim to be the same, each with its sign."""

    value: Structure
    claims: tuple[tuple[str, Structure], ...] = ()


def behind(relation: Relation) -> Behind:
    """The value behind the label, the first one of a chain; raise `Doubt` for an equation or an inequality."""
    if not set(relation.signs) <= {"=", "~", "in"}:
        raise Doubt("inequality")
    sides, signs = relation.sides, relation.signs
    if _name(sides[0]) is not None:
        sides, signs = sides[1:], signs[1:]
    elif len(sides) == 2 and _name(sides[1]) is not None:
        sides, signs = sides[:1], ()
    elif any(_unknowns(side) for side in sides):
        raise Doubt("equation")
    return Behind(sides[0], tuple(zip(signs, sides[1:], strict=True)))


def same_relations(answer: Relation, gold: Relation, sameness: Sameness) -> bool:
    """True for the same equation or inequality up to a factor and the order of sides."""
    left, right = _difference(answer), _difference(gold)
    if left is None or right is None or left[1] != right[1]:
        return False
    if sameness.same(left[0], right[0]):
        return True
    turn = sameness.proportion(left[0], right[0])
    return turn != 0 if left[1] in ("=", "!=") else turn > 0


def _name(side: Structure) -> str | None:
    match side:
        case Value(node=Symbol(name=name), unit=None):
            return name
        case Value(node=Apply(op=op) as node, unit=None) if op.startswith("call:") or _is_letters(node):
            return _spelled(node)
        case Words(text=text):
            return text
        case Unread(text=text) if NAME.fullmatch(text):
            return text
    return None


def _is_letters(node: Expression) -> bool:
    """A product of unknowns, or bars around them, as in AB or |z|."""
    parts = list(walk(node))
    ops = {part.op for part in parts if isinstance(part, Apply)}
    return ops <= {"mul", "abs"} and not any(isinstance(part, Number) for part in parts)


def _spelled(node: Expression) -> str:
    if isinstance(node, Symbol):
        return node.name
    if isinstance(node, Number):
        return "#"
    return f"{node.op}({','.join(map(_spelled, node.args))})"


def _unknowns(side: Structure) -> bool:
    return not isinstance(side, Value) or any(isinstance(part, Symbol) for part in walk(side.node))


def _difference(relation: Relation) -> tuple[Expression, str] | None:
    """Left minus right with its sign turned to `=`, `!=`, `<` or `<=`."""
    if len(relation.sides) != 2:
        return None
    left, right = relation.sides
    if not (isinstance(left, Value) and isinstance(right, Value)) or left.unit or right.unit:
        return None
    sign, ends = relation.signs[0], (left.node, right.node)
    if sign in (">", ">="):
        sign, ends = "<" + sign[1:], ends[::-1]
    if sign not in ("=", "!=", "<", "<="):
        return None
    return Apply("add", (ends[0], Apply("neg", (ends[1],)))), sign
