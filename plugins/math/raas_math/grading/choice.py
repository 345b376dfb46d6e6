"""Choice: which letters of a multiple-choice question an answer names."""

from __future__ import annotations

import re

__all__ = ["is_choice", "letters"]

WRAPPER = re.compile(r"\\text\{|[{}*]")
LEAD = re.compile(
    r"^\W*(?:(?:the\s+)?(?:correct\s+)?(?:options?|choices?|answers?)\s*(?:is|are|:)?\s*)?", re.IGNORECASE
)
ONE = r"[(\[]?\s*([A-J])\s*[)\].:]?(?![A-Za-z'])"
LIST = re.compile(rf"{ONE}(?:\s*(?:,|;|&|/|\band\b|\bor\b|,\s*and\b)?\s*{ONE})*", re.IGNORECASE)
RUN = re.compile(r"[A-J]{2,6}")
SINGLE = re.compile(r"(?<![A-Za-z\\])[A-J](?![A-Za-z'])")
GOLD = re.compile(r"[(\[]?[A-E][)\].]?")


def is_choice(spelled_gold: str) -> bool:
    """True when a gold is nothing but one choice letter, A to E, in brackets or not."""
    return GOLD.fullmatch(_plain(spelled_gold)) is not None


def letters(spelled: str) -> frozenset[str] | None:
    """The letters named; None when there are none, when they are joined by `or`, or when others stand behind."""
    text = LEAD.sub("", _plain(spelled))
    if RUN.fullmatch(text) and len(set(text)) == len(text):
        return frozenset(text)
    match = LIST.match(text)
    if match is None or re.search(r"\bor\b|/", match.group(), re.IGNORECASE):
        return None
    found = frozenset(letter.upper() for letter in re.findall(r"(?<![A-Za-z])[A-Ja-j](?![A-Za-z])", match.group()))
    rest = text[match.end() :]
    if len(found) == 1 and match.group().strip().islower() and rest.strip():
        return None
    return found if set(SINGLE.findall(rest)) <= found else None


def _plain(spelled: str) -> str:
    return re.sub(r"\s+", " ", WRAPPER.sub(" ", spelled)).strip()
