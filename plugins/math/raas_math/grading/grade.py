"""Grade: the verdict on one model text against its gold answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as shorten
from typing import Literal

from raas_math.grading.choice import is_choice, letters
from raas_math.grading.compare import Comparison
from raas_math.grading.doubt import Doubt
from raas_math.grading.final_answer import final_answer
from raas_math.grading.gold import BadGold, read_golds
from raas_math.grading.reading import readings
from raas_math.grading.sameness import DEFAULT_TOLERANCE
from raas_math.grading.second_opinion import second_opinion
from raas_math.grading.spelling import identity, spell, worded

__all__ = ["Grade", "grade"]

Extraction = Literal["boxed", "any"]
AnswerType = Literal["choice"]


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict: `correct`, the answer text that was graded (None if there was none), and why in one word."""

    correct: bool
    extracted: str | None
    reason: str


def grade(
    model_output: str,
    gold: str | Sequence[str],
    *,
    extraction: Extraction = "boxed",
    rel_tolerance: float = DEFAULT_TOLERANCE,
    answer_type: AnswerType | None = None,
    finished: bool = False,
) -> Grade:
    """Decide whether the model's final answer is the gold, or one of several golds.

    `extraction="boxed"` reads boxes only, `"any"` also a clear final line. `rel_tolerance` is relative to the gold;
    the default forgives the rounding of decimals only, a wider one applies to every number. `finished` demands that
    where the gold is a number the answer is one too: 23 + 48, an echo of the question, is then no 71. What cannot be
    decided is not correct, and `reason` says why. No model text makes it raise, evaluate code or do unbounded work; a
    gold that is empty or no string raises `BadGold`.
    """
    golds = read_golds(gold)
    if extraction not in ("boxed", "any") or answer_type not in (None, "choice"):
        raise ValueError(
            f"extraction {extraction!r} must be 'boxed' or 'any', answer_type {answer_type!r} None or 'choice'"
        )
    if not (math.isfinite(rel_tolerance) and 0 <= rel_tolerance < 1):
        raise ValueError(f"rel_tolerance {rel_tolerance!r} must be at least 0 and below 1")
    found = final_answer(model_output, extraction=extraction)
    if found.text is None:
        return Grade(correct=False, extracted=None, reason=found.reason)
    answer = spell(found.text)
    if not any(char.isalnum() or ord(char) > 127 for char in answer):
        return Grade(correct=False, extracted=found.text, reason="empty_answer")
    reasons = []
    for wanted in golds:
        comparison = Comparison(rel_tolerance=rel_tolerance, finished=finished)
        reason = _verdict(answer, wanted, comparison, choice=answer_type == "choice")
        if reason in CORRECT:
            return Grade(correct=True, extracted=found.text, reason=reason)
        reasons.append(reason)
    return Grade(correct=False, extracted=found.text, reason=reasons[0])


CORRECT = frozenset({"identical", "equal", "same_letters"})


def _verdict(answer: str, gold: str, comparison: Comparison, *, choice: bool) -> str:
    """One word: a member of `CORRECT`, or why not."""
    try:
        if choice or is_choice(gold):
            return _choice(answer, gold, any_letter=choice)
        if identity(answer) == identity(gold):
            return "identical"
        if worded(answer) and worded(answer) == worded(gold):
            return "identical"
        return _compared(answer, gold, comparison)
    except Doubt as doubt:
        return doubt.reason
    except RecursionError:
        return "too_deep"


def _choice(answer: str, gold: str, *, any_letter: bool) -> str:
    wanted, named = letters(gold), letters(answer)
    if wanted is None:
        if any_letter:
            raise BadGold(f"gold {shorten(gold)} names no choice letter; give letters A to J, or no answer_type")
        return "different"
    if named is None:
        return "no_single_choice"
    return "same_letters" if named == wanted else "different"


def _compared(answer: str, gold: str, comparison: Comparison) -> str:
    failed: Doubt | None = None
    for wanted in readings(gold):
        for said in readings(answer):
            try:
                if comparison.equal(said, wanted):
                    return "equal"
            except Doubt as doubt:
                failed = doubt
    if failed is None:
        return "different"
    if failed.reason == "unfinished":
        return failed.reason
    return "equal" if second_opinion(answer, gold) else failed.reason
