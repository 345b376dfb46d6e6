"""Box: the boxed expressions of a text, found by matching braces. What counts as the answer is not decided here."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

__all__ = ["Box", "boxes", "closing", "unboxed"]

MARK = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
BARE_TOKEN = re.compile(
    r"[-+]?\d[\d,]*(?:\.\d+)?|[-+]?(?:\\[dt]?frac|\\sqrt|\\text|\\mathrm|\\textbf)\s*|[A-Za-z](?![A-Za-z])|\\[a-zA-Z]+"
)
LAST_MARKS = 64
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Box:
    """One box: where it starts and ends, and what it holds; None when it is never closed."""

    start: int
    end: int
    content: str | None


def boxes(text: str) -> list[Box]:
    """The outermost boxes in order, at most the last 64; empty ones are mentions of a box and left out.

    A box ends the list when it is not closed within 20,000 characters: what follows cannot be trusted.
    """
    found: list[Box] = []
    end = 0
    for mark in _last_marks(text):
        if mark.start() < end:
            continue
        box = _box(text, mark)
        end = box.end
        if box.content is None or box.content.strip():
            found.append(box)
    return found


def unboxed(text: str) -> str:
    """The content of the last box of the text, or the text itself when there is no closed box in it."""
    found = [box.content for box in boxes(text) if box.content is not None]
    return found[-1] if found else text


def _last_marks(text: str) -> deque[re.Match[str]]:
    return deque(MARK.finditer(text), maxlen=LAST_MARKS)


def _box(text: str, mark: re.Match[str]) -> Box:
    at = mark.end()
    if text[at : at + 1] != "{":
        return _bare(text, mark)
    end = closing(text, at)
    if end is None:
        return Box(mark.start(), len(text), None)
    return Box(mark.start(), end, text[at + 1 : end - 1])


def _bare(text: str, mark: re.Match[str]) -> Box:
    token = BARE_TOKEN.match(text, mark.end())
    if token is None:
        garbled = text[mark.end() : mark.end() + 1] in ("(", "[")
        return Box(mark.start(), mark.end(), None if garbled else "")
    end = token.end()
    while text[end : end + 1] == "{":
        close = closing(text, end)
        if close is None:
            return Box(mark.start(), len(text), None)
        end = close
    return Box(mark.start(), end, text[mark.end() : end])


def closing(text: str, at: int) -> int | None:
    """The index after the brace that closes the one at `at`, or None; escaped braces do not count."""
    depth = 0
    for match in BRACE.finditer(text, at, at + LONGEST + 2):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None
