"""Split: cutting a spelled text at separators that stand outside of every bracket."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raas_math.grading.doubt import Doubt

__all__ = ["Piece", "outside", "pieces", "whole_bracket"]

OPEN = ("(", "[", "{", "\\{", "\\langle", "\\lfloor", "\\lceil", "\\begin")
CLOSE = (")", "]", "}", "\\}", "\\rangle", "\\rfloor", "\\rceil", "\\end")
BRACKET = re.compile(r"\\(?:[{}]|langle|rangle|lfloor|rfloor|lceil|rceil|begin|end)|\\.|[()\[\]{}]")
ENVIRONMENT = re.compile(r"\{[a-zA-Z]+\*?\}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text and the separator that stands before it."""

    text: str
    separator: str


def outside(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The matches of the pattern outside of brackets; raise `Doubt` when the brackets do not balance."""
    spans, depth, free = [], 0, 0
    for match in BRACKET.finditer(text):
        step = (match.group() in OPEN) - (match.group() in CLOSE)
        if depth == 0 and step > 0:
            spans.append((free, match.start()))
        depth += step
        if depth < 0:
            raise Doubt("unbalanced")
        if depth == 0 and step < 0:
            free = match.end()
    if depth:
        raise Doubt("unbalanced")
    spans.append((free, len(text)))
    return [match for start, end in spans for match in pattern.finditer(text, start, end)]


def pieces(text: str, pattern: re.Pattern[str]) -> list[Piece]:
    """The parts of the text between separators outside of brackets, stripped; empty parts are kept."""
    parts, at, separator = [], 0, ""
    for match in outside(text, pattern):
        parts.append(Piece(text[at : match.start()].strip(), separator))
        at, separator = match.end(), match.group().strip()
    parts.append(Piece(text[at:].strip(), separator))
    return parts


def whole_bracket(text: str) -> tuple[str, str, str] | None:
    """Opener, inside and closer when one pair of brackets, of any kinds, holds the whole text."""
    opener = next((sign for sign in ("\\{", "\\langle", "(", "[", "{") if text.startswith(sign)), None)
    closer = next((sign for sign in ("\\}", "\\rangle", ")", "]", "}") if text.endswith(sign)), None)
    if opener is None or closer is None or len(text) < len(opener) + len(closer):
        return None
    depth = 0
    for match in BRACKET.finditer(text):
        depth += (match.group() in OPEN) - (match.group() in CLOSE)
        if depth == 0:
            return (opener, text[len(opener) : -len(closer)].strip(), closer) if match.end() == len(text) else None
    return None
