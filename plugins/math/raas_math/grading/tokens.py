"""Tokens: the allow-list. Only what is listed here ever reaches an evaluator; anything else is a doubt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raas_math.grading.doubt import Doubt

__all__ = ["FUNCTIONS", "Token", "tokenize"]

FUNCTION_WORDS = "sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh coth exp ln log lg sqrt abs"
FUNCTIONS = {name: name for name in FUNCTION_WORDS.split()} | {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "cbrt": "cbrt",
    "arctg": "arctan",
    "tg": "tan",
    "ctg": "cot",
}
CONSTANTS = frozenset({"pi", "infty"})
GREEK_WORDS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega Pi ell"
)
GREEK = frozenset(GREEK_WORDS.split())
BUILDER_WORDS = "frac sqrt binom overline bar dot lfloor rfloor lceil rceil pm mp degree operatorname"
BUILDERS = frozenset(BUILDER_WORDS.split())
NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?"
REPEATING = (
    r"(?P<repeat>\d*\.\d*\\(?:overline|bar)\s*\{\d+\}|\d*\.\(\d+\)|\d*\.\d*\\dot\s*\{?\d\}?(?:\d*\\dot\s*\{?\d\}?)?)"
)
TOKEN = re.compile(
    rf"(?P<space>\s+)|{REPEATING}|(?P<number>{NUMBER})|\\(?P<command>[A-Za-z]+)|(?P<word>[A-Za-z]+)"
    r"|(?P<sign>\*\*|\\[{}|]|[-+*/^!()\[\]{}|_%,'=])"
)
WORD_NAMES = sorted([*FUNCTIONS, "pi", "infty", "inf"], key=len, reverse=True)
WORD_PART = re.compile("|".join(WORD_NAMES) + "|.")
MOST_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `kind` is number, repeat, command, letter or sign; `spaced` says that a blank stands before it."""

    kind: str
    text: str
    spaced: bool = False


def tokenize(text: str) -> list[Token]:
    """Split a spelled formula; raise `Doubt` at the first sign that is not on the list or at too many tokens."""
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Doubt("unreadable")
        at = match.end()
        kind = match.lastgroup or "space"
        if kind != "space":
            found.extend(_tokens(kind, match[kind], spaced=spaced))
        spaced = kind == "space"
        if len(found) > MOST_TOKENS:
            raise Doubt("too_long")
    return found


def _tokens(kind: str, text: str, *, spaced: bool) -> list[Token]:
    if kind == "word":
        return _word(text, spaced=spaced)
    if kind == "command":
        return [_command(text, spaced=spaced)]
    return [Token(kind, "^" if text == "**" else text, spaced)]


def _command(name: str, *, spaced: bool) -> Token:
    if name in GREEK:
        return Token("letter", name, spaced)
    if name in FUNCTIONS or name in CONSTANTS or name in BUILDERS:
        return Token("command", name, spaced)
    raise Doubt("unreadable")


def _word(text: str, *, spaced: bool) -> list[Token]:
    parts = WORD_PART.findall(text)
    letters = sum(len(part) == 1 for part in parts)
    if letters > 3:
        raise Doubt("words")
    tokens = []
    for index, part in enumerate(parts):
        name = "infty" if part == "inf" else part
        tokens.append(Token("letter" if len(part) == 1 else "command", name, spaced and index == 0))
    return tokens
