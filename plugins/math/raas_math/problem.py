"""Problem: what a math instance asks and what the right answers are. Nothing is graded here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from raas_math.grading.box import unboxed
from raas_math.grading.gold import BadGold, read_golds

__all__ = ["BadInstance", "Problem"]

QUESTION_FIELDS = ("prompt", "question", "problem")
ANSWER_FIELDS = ("answer", "ground_truth", "expected_answer", "final_answer", "solution")
CHOICE_TYPES = frozenset({"choice", "multiple_choice", "multiple-choice", "mcq"})
MESSAGE_LIST = re.compile(r"\s*\[\s*\{")
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
STEPWISE = re.compile(
    r"(?=.*\b(?:think|reason|solve|work|explain|proceed)\w*\b)(?=.*\bstep[\s-]+by[\s-]+step\b)", re.I | re.S
)
BOXING = re.compile(
    r"(?=.*\\?\bboxed\b)(?=.*\b(?:put|output|place|write|give|enclose|wrap|present|provide|return|box|express|state|show|"
    r"end|finish|make sure|include)\w*\b)(?=.*\b(?:answer|result|solution)\b)",
    re.I | re.S,
)


class BadInstance(ValueError):
    """The instance cannot be read as a math problem; the message names the field and what to put there."""

    raas_kind = "task"
    code = "bad_instance"
    retryable = False


@dataclass(frozen=True, slots=True)
class Problem:
    """One math problem: the question without its formatting request, and one or more right answers."""

    question: str
    golds: tuple[str, ...]
    answer_type: Literal["choice"] | None = None

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Problem:
        """Read an instance's fields; raise `BadInstance` where one is missing or malformed.

        The question is the first message of `prompt` (a list, or its JSON text), else `question` or `problem`. The
        answers are `reward_model.ground_truth`, else `answer` (behind `####` where that is used), `ground_truth`,
        `expected_answer`, `final_answer` or the box of `solution`; several are a list, and boxes are taken off.
        """
        golds = _golds(payload)
        try:
            read_golds(golds)
        except BadGold as error:
            raise BadInstance(f"the reference answer cannot be used: {error}") from error
        return cls(_question(payload), golds, _answer_type(payload))


def _question(payload: Mapping[str, Any]) -> str:
    field = next((name for name in QUESTION_FIELDS if payload.get(name) is not None), None)
    if field is None:
        raise BadInstance(f"no question: give one of {', '.join(map(repr, QUESTION_FIELDS))} (got {sorted(payload)!r})")
    text = _first_message(payload[field]) if field == "prompt" else payload[field]
    if not isinstance(text, str) or not text.strip():
        raise BadInstance(f"{field!r} holds no text: {_short(payload[field])}; put the problem there")
    return _without_request(text.strip())


def _first_message(prompt: object) -> object:
    messages = _from_json(prompt, opener="[") if isinstance(prompt, str) else prompt
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list | tuple) or not messages or not isinstance(messages[0], Mapping):
        raise BadInstance(f"'prompt' {_short(prompt)} is no list of messages; give [{{'role': ..., 'content': ...}}]")
    content = messages[0].get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content


def _from_json(text: str, *, opener: str) -> object:
    """The value of JSON text that starts with the opener; any other text as it is, but for a broken message list."""
    if not text.lstrip().startswith(opener):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        if MESSAGE_LIST.match(text):
            raise BadInstance(f"'prompt' is a list of messages in broken JSON ({error}): {text!r:.80}") from error
        return text


def _without_request(text: str) -> str:
    """The problem without the closing sentences that ask to think step by step and to box the answer."""
    kept = text
    while True:
        cuts = list(SENTENCE.finditer(kept))
        last = kept[cuts[-1].end() :] if cuts else kept
        if not cuts or not (STEPWISE.match(last) or BOXING.match(last)):
            return kept
        kept = kept[: cuts[-1].start()].rstrip()


def _golds(payload: Mapping[str, Any]) -> tuple[str, ...]:
    field, value = _answer(payload)
    if isinstance(value, str) and value.lstrip().startswith("["):
        parsed = _from_json(value, opener="[")
        value = parsed if isinstance(parsed, list) and all(isinstance(one, str) for one in parsed) else value
    values = value if isinstance(value, list | tuple) else [value]
    if not values:
        raise BadInstance(f"{field!r} is an empty list; put the right answer there")
    return tuple(_gold(one, field) for one in values)


def _answer(payload: Mapping[str, Any]) -> tuple[str, Any]:
    if payload.get("reward_model") is not None:
        model = payload["reward_model"]
        model = _from_json(model, opener="{") if isinstance(model, str) else model
        if not isinstance(model, Mapping) or model.get("ground_truth") is None:
            raise BadInstance(f"'reward_model' {_short(model)} has no 'ground_truth'; put the right answer there")
        return "reward_model.ground_truth", model["ground_truth"]
    for name in ANSWER_FIELDS:
        if payload.get(name) is not None:
            return name, payload[name]
    raise BadInstance(f"no reference answer: give 'reward_model.ground_truth' or 'answer' (got {sorted(payload)!r})")


def _gold(value: object, field: str) -> str:
    if isinstance(value, str):
        text = value.rpartition("####")[2] if "####" in value else value
        if field == "solution" and unboxed(text) == text:
            raise BadInstance("'solution' boxes no answer; give the answer itself in 'answer'")
        return unboxed(text).strip()
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInstance(f"{field!r} holds {_short(value)}, which is no answer; give text, a finite number or a list")
    return str(value)


def _answer_type(payload: Mapping[str, Any]) -> Literal["choice"] | None:
    extra = payload.get("extra_info")
    extra = _from_json(extra, opener="{") if isinstance(extra, str) else extra
    named = payload.get("answer_type") or (extra.get("answer_type") if isinstance(extra, Mapping) else None)
    return "choice" if isinstance(named, str) and named.lower() in CHOICE_TYPES else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
