"""Gold: the reference answers, checked and spelled before any model text is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import repr as shorten

from raas_math.grading.box import unboxed
from raas_math.grading.spelling import spell

__all__ = ["BadGold", "read_golds"]

LONGEST = 20_000


class BadGold(ValueError):
    """The reference answer is no answer, so no text can be graded against it: a fault of the data."""

    raas_kind = "task"
    code = "bad_gold"
    retryable = False


def read_golds(gold: str | Sequence[str]) -> tuple[str, ...]:
    """Each gold spelled, out of its box; raise `BadGold` for none, an empty one, one that is no text."""
    golds = (gold,) if isinstance(gold, str) else tuple(gold) if isinstance(gold, Sequence) else ()
    if not golds:
        raise BadGold(f"gold {shorten(gold)} has no answer in it; give a string or a list of strings")
    return tuple(_spelled(one) for one in golds)


def _spelled(gold: object) -> str:
    if not isinstance(gold, str):
        raise BadGold(f"gold {shorten(gold)} is no string; give the answer as text")
    if len(gold) > LONGEST:
        raise BadGold(f"gold of {len(gold)} characters is longer than {LONGEST}; give the answer alone")
    spelled = spell(unboxed(gold))
    if not any(char.isalnum() for char in spelled):
        raise BadGold(f"gold {shorten(gold)} says nothing; give the answer as text")
    return spelled
