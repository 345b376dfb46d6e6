"""Final answer: which words of a model's text are its answer. Nothing is graded here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raas_math.grading.box import Box, boxes

__all__ = ["FinalAnswer", "final_answer"]

THOUGHT_START = re.compile(r"<think(?:ing)?>")
JOINER = re.compile(
    r"[\s$~]*(?:\\[,;:!() \[\]]|\\q?quad|[.]?\s*\\text\{[^{}]{0,12}\}|,|;|&|\band\b|\bor\b|[\s$~])*"
    r"(?:[A-Za-z](?:_\{?\w{1,3}\}?)?\s*=)?[\s$~]*"
)
SAME_LINE = re.compile(r"\n\s*\n|\.\s")
MARKED = re.compile(
    r"^\W*(?:(?:so|thus|hence|therefore|then)\b,?\s*)?(?:(?:the|my|our)\s+)?(?:final\s+|correct\s+)?answer\b"
    r"(?:\s+to\s+(?:this|the)\s+(?:problem|question))?"
    r"(?:\s*\**\s*(?:is|:|=)\s*(?:\**\s*:)?|\s*\**\s*$)\s*(?P<answer>.*)$",
    re.IGNORECASE | re.DOTALL,
)
HASHES = re.compile(r"^\s*####\s*(?P<answer>\S.*)$")
COURTESY = re.compile(r"\s*I hope (?:it|this) is correct\.?\s*$", re.IGNORECASE)
BARE = re.compile(r"^\s*(?:\$[^$]{1,80}\$|\*\*[^*]{1,80}\*\*|[-+]?[\d.,/]{1,80})\.?\s*$")
LAST_LINES_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The answer's text, or None with the reason why there is none."""

    text: str | None
    reason: str


def final_answer(model_output: str, *, extraction: str) -> FinalAnswer:
    """Read the answer: the last box, neighbouring last boxes joined as a list, or (`any`) a clear final line.

    Only text after the last closed thought counts. A box that is never closed is no answer, and neither is any
    box before it. The work grows with the length of the text, once.
    """
    text = _after_thought(model_output)
    found = boxes(text)
    if found:
        return _from_boxes(text, found)
    if extraction == "any":
        return _from_last_line(text)
    return FinalAnswer(None, "no_box")


def _after_thought(text: str) -> str:
    end = max(text.rfind("</think>"), text.rfind("</thinking>"))
    if end >= 0:
        text = text[text.index(">", end) + 1 :]
    opened = THOUGHT_START.search(text)
    return text[: opened.start()] if opened else text


def _from_boxes(text: str, found: list[Box]) -> FinalAnswer:
    last = found[-1]
    if last.content is None:
        return FinalAnswer(None, "unfinished_box")
    joined = [last.content.strip()]
    for before, after in zip(reversed(found[:-1]), reversed(found), strict=False):
        gap = text[before.end : after.start]
        if before.content is None or not _joins(gap):
            break
        joined.insert(0, before.content.strip())
    if len(set(joined)) == 1:
        return FinalAnswer(joined[0], "boxed")
    return FinalAnswer(", ".join(joined), "boxed_list")


def _joins(gap: str) -> bool:
    return len(gap) <= 40 and not SAME_LINE.search(gap) and JOINER.fullmatch(gap) is not None


def _from_last_line(text: str) -> FinalAnswer:
    lines = [line for line in text[-LAST_LINES_CHARS:].splitlines() if line.strip()]
    if lines and len(lines) > 1 and COURTESY.fullmatch(lines[-1]):
        lines.pop()
    if not lines:
        return FinalAnswer(None, "no_answer")
    last = COURTESY.sub("", lines[-1])
    answer = _marked(last)
    if answer is None and len(lines) > 1 and _is_heading(lines[-2]) and _marked(lines[-2]) == "":
        answer = last
    if answer is None and len(text.strip()) <= 80 and len(lines) == 1 and BARE.match(last):
        answer = last
    return FinalAnswer(answer, "final_line") if answer else FinalAnswer(None, "no_answer")


def _is_heading(line: str) -> bool:
    return len(line) <= 40


def _marked(line: str) -> str | None:
    line = re.sub(r"^\s*#{1,3}\s+", "", line)
    if match := HASHES.match(line):
        return match["answer"].strip()
    plain = line.replace("**", "").strip()
    while match := MARKED.match(plain):
        plain = match["answer"].strip()
        if not MARKED.match(plain):
            return plain
    return None
