"""Second opinion: math-verify, asked about short formulas that the parser here does not read (sums, limits, gcd).

It is asked only what it answers quickly: an allow-list of commands and small numbers stand before it, and its own
timeouts stay off, because they need signals and the main thread.
"""

from __future__ import annotations

import re

__all__ = ["second_opinion"]

LONGEST = 120
COMMAND_WORDS = (
    "frac sqrt sum prod gcd lcm max min binom pi sin cos tan ln log exp cdot left right to infty vec hat bar "
    "overline angle triangle alpha beta theta lambda mu sigma"
)
COMMANDS = frozenset(COMMAND_WORDS.split())
COMMAND = re.compile(r"\\([A-Za-z]+)")
FORBIDDEN = re.compile(r"[!\"'#$&;:@`~?\[\]<>%]|\\[^A-Za-z]|\d{4,}|\^\s*\{?[^{}]*\d{3}|\^.*\^.*\^")


def second_opinion(answer: str, gold: str) -> bool:
    """True when math-verify reads both and calls them equal, in exact arithmetic as well."""
    if not (_askable(answer) and _askable(gold)) or not (_special(answer) or _special(gold)):
        return False
    # imported here: it takes half a second and most answers never need it
    from math_verify import LatexExtractionConfig, parse, verify

    read = [
        parse(
            f"${side}$",
            [LatexExtractionConfig()],
            fallback_mode="no_fallback",
            parsing_timeout=None,
            raise_on_error=False,
        )
        for side in (gold, answer)
    ]
    if not all(read):
        return False
    return bool(verify(read[0], read[1], float_rounding=15, timeout_seconds=None, raise_on_error=False))


def _askable(text: str) -> bool:
    return len(text) <= LONGEST and not FORBIDDEN.search(text) and set(COMMAND.findall(text)) <= COMMANDS


def _special(text: str) -> bool:
    return re.search(r"\\(?:sum|prod|gcd|lcm|max|min)(?![a-z])", text) is not None
