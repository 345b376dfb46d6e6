"""Second opinion: math-verify, asked about short formulas that the parser here does not read: sums, products, gcd.

It is asked only what it answers quickly: an allow-list of commands, small numbers and at most one letter stand
before it, and its own timeouts stay off, because they need signals and the main thread.
"""

from __future__ import annotations

import re

from raas_math.grading.split import outside

__all__ = ["second_opinion"]

LONGEST = 80
SPECIAL = re.compile(r"\\(?:sum|prod|gcd|lcm|max|min)(?![a-z])")
COMMAND = re.compile(r"\\([A-Za-z]+)")
COMMAND_WORDS = "frac sqrt sum prod gcd lcm max min binom pi"
COMMANDS = frozenset(COMMAND_WORDS.split())
LETTER = re.compile(r"[A-Za-z]+")
FORBIDDEN = re.compile(r"[^\w\s\\{}()+*/^=,.-]|\\[^A-Za-z]|\d{4}|\^\s*\^")
EXPONENT = re.compile(r"\^\s*(?:\{([^{}]*)\}|(.))?")
APART = re.compile(r"[,;=]|(?<![A-Za-z])(?:and|or)(?![A-Za-z])")


def second_opinion(answer: str, gold: str) -> bool:
    """True when math-verify reads both and calls them equal to 15 digits; False when it was not asked."""
    if not (_askable(answer) and _askable(gold)) or not (SPECIAL.search(answer) or SPECIAL.search(gold)):
        return False
    # imported here: it takes half a second and most answers never need it
    from math_verify import LatexExtractionConfig, parse, verify

    config = [LatexExtractionConfig()]
    read = [parse(f"${side}$", config, fallback_mode="no_fallback", parsing_timeout=None) for side in (gold, answer)]
    return all(read) and verify(read[0], read[1], float_rounding=15, timeout_seconds=None)


def _askable(text: str) -> bool:
    if len(text) > LONGEST or FORBIDDEN.search(text) or not set(COMMAND.findall(text)) <= COMMANDS:
        return False
    letters = set(LETTER.findall(COMMAND.sub(" ", text)))
    if len(letters) > 1 or len(SPECIAL.findall(text)) > 1 or outside(text, APART):
        return False
    powers = [group or single for group, single in EXPONENT.findall(text)]
    return all(power.isalnum() for power in powers) and sum(len(power) > 1 for power in powers) <= 1
