"""Parts reasoning from the rest of a reply: what stands in a think block is never content and never a call.

One rule for every tool-call format: `<think>…</think>` anywhere outside a call is reasoning; a `</think>` with
no opening tag closes a block that the prompt had opened; a block that never closes swallows the rest.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Reasoned", "split_reasoning"]

OPEN = "<think>"
CLOSE = "</think>"


@dataclass(frozen=True, slots=True)
class Reasoned:
    """`rest` is the reply without reasoning; `open_reasoning` is the part of a block that never closed."""

    rest: str
    reasoning: str | None
    open_reasoning: str | None = None


def split_reasoning(text: str, *, opener: str, skip: Callable[[str, int], int]) -> Reasoned:
    """Take the think blocks out. `skip(text, position after an opener)` says where a call's text ends."""
    marks = re.compile("|".join(map(re.escape, (OPEN, CLOSE, opener))))
    kept: list[str] = []
    thoughts: list[str] = []
    start = position = 0
    while mark := marks.search(text, position):
        position = mark.end()
        if mark.group() == opener:
            position = skip(text, position)
        elif mark.group() == CLOSE:
            if not thoughts:
                kept, thoughts, start = [], [text[: mark.start()]], position
        else:
            end = text.find(CLOSE, position)
            kept.append(text[start : mark.start()])
            if end < 0:
                thoughts.append(text[position:])
                return Reasoned("".join(kept), _joined(thoughts), text[position:])
            thoughts.append(text[position:end])
            start = position = end + len(CLOSE)
    kept.append(text[start:])
    return Reasoned("".join(kept), _joined(thoughts))


def _joined(thoughts: list[str]) -> str | None:
    return "\n".join(thought.strip() for thought in thoughts) if thoughts else None
