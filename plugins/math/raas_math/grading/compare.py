"""Compare: whether two structures say the same answer. Expressions are left to sameness, sets of reals to region."""

from __future__ import annotations

from fractions import Fraction

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Number, is_unfinished
from raas_math.grading.region import is_region, region, same_regions
from raas_math.grading.relation import behind, label, same_relations
from raas_math.grading.sameness import Sameness
from raas_math.grading.structure import (
    Based,
    Bracketed,
    Clock,
    Listing,
    Matrix,
    Ratio,
    Relation,
    Structure,
    Union,
    Unread,
    Value,
    Words,
)

__all__ = ["Comparison"]

MOST_COMPARISONS = 1_500
ABOUT = 0.02  # a rounded claim behind an exact value, as in 22/7 ~ 3.14


class Comparison:
    """Compares an answer with a gold; the number of values it looks at is bounded."""

    def __init__(self, *, rel_tolerance: float, finished: bool = False) -> None:
        self.finished = finished
        self.sameness = Sameness(rel_tolerance)
        self.done = 0

    def equal(self, answer: Structure, gold: Structure) -> bool:
        """True when both say the same; raise `Doubt` when that cannot be told."""
        self.done += 1
        if self.done > MOST_COMPARISONS:
            raise Doubt("too_long")
        for side in (answer, gold):
            if isinstance(side, Unread):
                raise Doubt(side.reason)
        if is_region(answer) or is_region(gold):
            return self.regions(answer, gold)
        if isinstance(answer, Relation) or isinstance(gold, Relation):
            return self.relations(answer, gold)
        return self.plain(answer, gold)

    def regions(self, answer: Structure, gold: Structure) -> bool:
        order = self.sameness.order
        left, right = region(answer, order), region(gold, order)
        if left is not None and right is not None:
            return same_regions(left, right, order)
        if isinstance(answer, Relation) and isinstance(gold, Relation):
            return same_relations(answer, gold, self.sameness)
        if isinstance(answer, Listing | Union) and isinstance(gold, Listing | Union):
            return type(answer) is type(gold) and self.unordered(_items(answer), _items(gold))
        return False

    def relations(self, answer: Structure, gold: Structure) -> bool:
        if isinstance(answer, Relation) and isinstance(gold, Relation):
            labels = label(answer), label(gold)
            if labels[0] is not None and labels[0] == labels[1]:
                return self.equal(self.value_behind(answer), self.value_behind(gold))
            return same_relations(answer, gold, self.sameness)
        if isinstance(answer, Relation):
            return self.equal(self.value_behind(answer), gold)
        if isinstance(gold, Relation):
            return self.equal(answer, self.value_behind(gold))
        return False

    def value_behind(self, relation: Relation) -> Structure:
        """The value behind the label, once every further side of the chain agrees with it."""
        found = behind(relation)
        for sign, side in found.claims:
            about = sign == "~" and isinstance(side, Value) and isinstance(found.value, Value)
            if not (self.about(side, found.value) if about else self.equal(side, found.value)):
                raise Doubt("inconsistent")
        return found.value

    def about(self, rounded: Structure, value: Structure) -> bool:
        return self.sameness.about(_node(rounded), _node(value), ABOUT)

    def plain(self, answer: Structure, gold: Structure) -> bool:
        match answer, gold:
            case Value(), Value():
                return self.values(answer, gold)
            case (Words(), Words()) | (Based(), Based()):
                return answer == gold
            case Clock(), (Clock() | Ratio()):
                return _same_clock(answer, gold) if isinstance(gold, Clock) else self.ratios(_as_ratio(answer), gold)
            case Ratio(), Ratio():
                return self.ratios(answer, gold)
            case Matrix(), Matrix():
                return answer.kind == gold.kind and self.matrices(answer, gold)
            case (Matrix(), Bracketed()) | (Bracketed(), Matrix()):
                return self.ordered(_vector(answer), _vector(gold))
            case (Bracketed(), Bracketed()):
                return _same_brackets(answer, gold) and self.ordered(answer.items, gold.items)
            case (Listing(items=(only,)), Bracketed()):
                return self.equal(only, gold)
            case (Bracketed(), Listing(items=(only,))):
                return self.equal(answer, only)
            case (Listing(), Bracketed()) | (Bracketed(), Listing()):
                return self.bracketed_list(answer, gold)
            case (Listing(), _) | (_, Listing()):
                return self.listings(answer, gold)
        return False

    def values(self, answer: Value, gold: Value) -> bool:
        """Compare two values with their units; a unit that one side leaves out is no difference."""
        kinds = _percent(answer), _percent(gold)
        if self.finished and isinstance(gold.node, Number) and is_unfinished(answer.node):
            raise Doubt("unfinished")
        if kinds == (True, False) and gold.unit is None:
            return self.close(_hundredth(answer.node), gold.node) or (
                _exceeds_one(gold.node) and self.close(answer.node, gold.node)
            )
        if kinds == (False, True) and answer.unit is None:
            return self.close(answer.node, gold.node) or self.close(answer.node, _hundredth(gold.node))
        if answer.unit is None or gold.unit is None:
            return self.close(answer.node, gold.node)
        if answer.unit.dimensions != gold.unit.dimensions:
            return False
        return self.close(_scaled(answer.node, answer.unit.size / gold.unit.size), gold.node)

    def close(self, answer: Expression, gold: Expression) -> bool:
        return self.sameness.same(answer, gold)

    def ordered(self, answer: tuple[Structure, ...] | None, gold: tuple[Structure, ...] | None) -> bool:
        if answer is None or gold is None or len(answer) != len(gold):
            return False
        return all(self.equal(left, right) for left, right in zip(answer, gold, strict=True))

    def bracketed_list(self, answer: Structure, gold: Structure) -> bool:
        """[1, 2, 3] is a list as programs print it; (1, 2) is what x = 1, y = 2 says in the order of the names."""
        if any(isinstance(side, Bracketed) and side.opener == "[" and len(side.items) > 2 for side in (answer, gold)):
            return self.unordered(_list_items(answer), _list_items(gold))
        return self.ordered(_named_items(answer), _named_items(gold))

    def listings(self, answer: Structure, gold: Structure) -> bool:
        left, right = _items(answer), _items(gold)
        if any(isinstance(side, Listing) and side.braces for side in (answer, gold)):
            left, right = self.distinct(left), self.distinct(right)
        return self.unordered(left, right)

    def unordered(self, answer: tuple[Structure, ...], gold: tuple[Structure, ...]) -> bool:
        if len(answer) != len(gold):
            return False
        if all(isinstance(item, Relation) for item in answer) != all(isinstance(item, Relation) for item in gold):
            return self.labelled(answer, gold)
        left = list(answer)
        for wanted in gold:
            match = next((index for index, item in enumerate(left) if self.equal(item, wanted)), None)
            if match is None:
                return False
            del left[match]
        return True

    def labelled(self, answer: tuple[Structure, ...], gold: tuple[Structure, ...]) -> bool:
        """One side says x = 2, y = 3: one unknown makes it a list of roots, several put it in the order of names."""
        named, bare = (answer, gold) if isinstance(answer[0], Relation) else (gold, answer)
        stripped = _by_name(named)
        if stripped is None or any(isinstance(item, Relation) for item in bare):
            return False
        left, right = (stripped, bare) if named is answer else (bare, stripped)
        roots = len({_stem(item) for item in named}) == 1
        return self.unordered(left, right) if roots else self.ordered(left, right)

    def distinct(self, items: tuple[Structure, ...]) -> tuple[Structure, ...]:
        found: list[Structure] = []
        for item in items:
            if not any(self.equal(item, other) for other in found):
                found.append(item)
        return tuple(found)

    def matrices(self, answer: Matrix, gold: Matrix) -> bool:
        if len(answer.rows) != len(gold.rows):
            return False
        return all(self.ordered(left, right) for left, right in zip(answer.rows, gold.rows, strict=True))

    def ratios(self, answer: Ratio, gold: Ratio) -> bool:
        """Ratios are equal when their terms are proportional: a:b = c:d where ad = bc."""
        if len(answer.items) != len(gold.items):
            return False
        left, right = [_node(item) for item in answer.items], [_node(item) for item in gold.items]
        crossed = (
            (Apply("mul", (one, right[0])), Apply("mul", (other, left[0])))
            for one, other in zip(left[1:], right[1:], strict=True)
        )
        return all(self.close(one, other) for one, other in crossed)


def _items(structure: Structure) -> tuple[Structure, ...]:
    if isinstance(structure, Listing):
        return structure.items
    return structure.parts if isinstance(structure, Union) else (structure,)


def _list_items(structure: Structure) -> tuple[Structure, ...]:
    return structure.items if isinstance(structure, Bracketed) else _items(structure)


def _percent(value: Value) -> bool:
    return value.unit is not None and value.unit.name == "percent"


def _hundredth(node: Expression) -> Expression:
    return Apply("percent", (node,))


def _exceeds_one(node: Expression) -> bool:
    """A bare gold above 1 is a number of percents; one up to 1 is a share, of which the sign takes a hundredth."""
    return isinstance(node, Number) and node.value > 1


def _scaled(node: Expression, factor: Fraction) -> Expression:
    return node if factor == 1 else Apply("mul", (node, Number(factor)))


def _node(structure: Structure) -> Expression:
    if isinstance(structure, Value) and structure.unit is None:
        return structure.node
    raise Doubt("unreadable")


def _same_clock(answer: Clock, gold: Clock) -> bool:
    if gold.half and not answer.half and answer.parts[0] <= 12:
        return False
    if gold.half:
        return _day_parts(answer) == _day_parts(gold)
    return answer.parts == gold.parts


def _day_parts(clock: Clock) -> tuple[int, ...]:
    if not clock.half:
        return clock.parts
    return (clock.parts[0] % 12 + (12 if clock.half == "pm" else 0), *clock.parts[1:])


def _as_ratio(clock: Clock) -> Ratio:
    return Ratio(tuple(Value(Number(Fraction(part))) for part in clock.parts[:2]))


def _same_brackets(answer: Bracketed, gold: Bracketed) -> bool:
    """Two items may be an interval, so brackets decide; longer rows are vectors in any brackets."""
    if len(gold.items) > 2 and len(answer.items) > 2:
        return True
    return (answer.opener, answer.closer) == (gold.opener, gold.closer)


def _vector(structure: Structure) -> tuple[Structure, ...] | None:
    """The items of a column, or of a tuple in parentheses or angles."""
    if isinstance(structure, Matrix) and structure.kind == "matrix" and all(len(row) == 1 for row in structure.rows):
        return tuple(row[0] for row in structure.rows)
    if isinstance(structure, Bracketed) and structure.opener in ("(", "\\langle"):
        return structure.items
    return None


def _named_items(structure: Structure) -> tuple[Structure, ...] | None:
    """The items of a pair, or of x = 1, y = 2 in the order of the names."""
    if isinstance(structure, Bracketed):
        return structure.items if structure.opener == "(" and structure.closer == ")" else None
    items = _items(structure)
    several = len({_stem(item) for item in items}) == len(items)
    return _by_name(items) if several and not (isinstance(structure, Listing) and structure.braces) else None


def _by_name(items: tuple[Structure, ...]) -> tuple[Structure, ...] | None:
    """The values of labelled items, sorted by label; None when an item has no label or shares one."""
    named = [(label(item) or "", behind(item)) for item in items if isinstance(item, Relation)]
    if len(named) != len(items) or not all(name and not found.claims for name, found in named):
        return None
    return tuple(found.value for _, found in sorted(named, key=lambda pair: pair[0]))


def _stem(item: Structure) -> str:
    return (label(item) or "").split("_")[0] if isinstance(item, Relation) else ""
