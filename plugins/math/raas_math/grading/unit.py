"""Unit: what stands behind a value: units with their sizes, percent, money, and plain nouns such as apples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

__all__ = ["Unit", "UnitTail", "split_unit"]

SIZES = {
    "length": "mm 1/1000 cm 1/100 dm 1/10 m 1 km 1000 in 127/5000 ft 381/1250 yd 1143/1250 mi 201168/125",
    "time": "ms 1/1000 s 1 min 60 h 3600 day 86400 week 604800",
    "mass": "mg 1/1000000 g 1/1000 kg 1 lb 45359237/100000000 oz 45359237/1600000000",
    "money": "dollar 1 cent 1/100",
    "degree": "degree 1",
    "percent": "percent 1",
    "euro": "euro 1",
    "poundsterling": "poundsterling 1",
    "yen": "yen 1",
    "volume": "ml 1/1000000 l 1/1000",
    "": "hundred 100 thousand 1000 million 1000000 billion 1000000000 trillion 1000000000000 dozen 12",
}
SPELLINGS = {
    "mm": "millimeter millimetre", "cm": "centimeter centimetre", "m": "meter metre", "km": "kilometer kilometre",
    "dm": "decimeter decimetre", "in": "inch inche", "ft": "foot feet", "yd": "yard", "mi": "mile",
    "ms": "millisecond", "s": "sec second", "min": "minute", "h": "hr hour", "day": "d", "week": "wk",
    "mg": "milligram", "g": "gram", "kg": "kilogram", "lb": "pound", "oz": "ounce", "ml": "milliliter millilitre",
    "l": "liter litre", "dollar": "usd buck", "euro": "eur", "poundsterling": "gbp", "yen": "jpy", "cent": "penny",
    "degree": "deg", "percent": "pct percentage",
}  # fmt: skip
NOT_UNIT_WORDS = (
    "and or not no none if is are was the maybe about approximately wrong except unless than more less least most "
    "plus minus times over but either both possibly"
)
NOT_UNITS = frozenset(NOT_UNIT_WORDS.split())
COUNTING = frozenset({"unit", "number", "in total", "total"})
PIECE = r"(?:\\text\{[^{}]*\}|\\(?:USD|EUR|GBP|JPY|degree)(?![A-Za-z])(?:\s*[CF](?![A-Za-z]))?|%|[A-Za-z]{2,}\.?)"
PIECE_POWER = rf"{PIECE}(?:\s*\^\s*\{{?-?\d\}}?)?"
PER = r"\s*/\s*[A-Za-z](?![A-Za-z])(?:\s*\^\s*\{?-?\d\}?)?"
TAIL = re.compile(rf"\s*(?P<tail>{PIECE_POWER}(?:{PER}|\s*[/*]?\s*{PIECE_POWER}){{0,5}})$")
POWERED = re.compile(
    rf"(?P<slash>/)?\s*(?P<piece>{PIECE}|(?<=/)[A-Za-z]|(?<=/ )[A-Za-z])(?:\s*\^\s*\{{?(?P<power>-?\d)\}}?)?"
)
ANGLE_FUNCTION = re.compile(r"(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
MATH_WORD_LIST = "sin cos tan cot sec csc log ln lg exp sqrt pi inf abs"
MATH_WORDS = frozenset(MATH_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class Unit:
    """Powers of dimensions with the size in the first unit of each; a noun is its own dimension."""

    dimensions: tuple[tuple[str, int], ...]
    size: Fraction = Fraction(1)

    @property
    def name(self) -> str:
        """The dimension's name when there is just one, else an empty string."""
        return self.dimensions[0][0] if len(self.dimensions) == 1 and self.dimensions[0][1] == 1 else ""


@dataclass(frozen=True, slots=True)
class UnitTail:
    """A text split into what stands before the unit, and the unit; `scale` is a bare million or the like."""

    value: str
    unit: Unit | None
    scale: Fraction = Fraction(1)


def split_unit(text: str) -> UnitTail:
    """Split `5 \\text{ cm}^2`, `\\USD 5`, `50%`, `3 million` or `7 apples` into value and unit."""
    money = re.match(r"-?\s*\\(USD|EUR|GBP|JPY)(?![A-Za-z])\s*", text)
    if money:
        sign = "-" if text.startswith("-") else ""
        text = f"{sign}{text[money.end() :]} \\{money[1]}"
    for start in _tail_starts(text):
        match = TAIL.match(text, start)
        before = text[:start].rstrip()
        if match and before and (unit := _unit(match["tail"], before, spaced=text[start : start + 1].isspace())):
            return _scaled(before, unit)
    return UnitTail(text, None)


def _tail_starts(text: str) -> list[int]:
    """Where a unit may begin: behind a digit, a closer or a letter, within the last 80 characters."""
    first = max(1, len(text) - 80)
    starts = [at for at in range(first, len(text)) if text[at - 1] in "0123456789)}]!" and text[at] not in ")}]^_"]
    words = [
        at for at in range(first, len(text)) if text[at - 1].isalpha() and text.startswith(("\\text", " \\text"), at)
    ]
    return sorted(starts + words)


def _scaled(before: str, unit: Unit) -> UnitTail:
    if any(name.startswith("degree") for name, _ in unit.dimensions) and ANGLE_FUNCTION.search(before):
        return UnitTail(f"{before}\\degree", None)
    real = tuple((name, power) for name, power in unit.dimensions if name)
    if not real:
        return UnitTail(before, None, unit.size)
    return UnitTail(before, Unit(real, unit.size))


def _unit(tail: str, before: str, *, spaced: bool) -> Unit | None:
    dimensions: dict[str, int] = {}
    size, powers = Fraction(1), 1
    for word, power, sign in _words(tail):
        known = _known(word)
        if known is None and not _noun(word, tail, spaced=spaced):
            return None
        if word in ("square", "sq", "cubic"):
            powers = 3 if word == "cubic" else 2
            continue
        name, factor = known or (_singular(word), Fraction(1))
        step, powers = sign * power * powers, 1
        size *= factor**step
        if name == "volume":
            name, step = "length", 3 * step
        if word not in COUNTING:
            dimensions[name] = dimensions.get(name, 0) + step
    return Unit(tuple(sorted((name, power) for name, power in dimensions.items() if power)), size)


def _words(tail: str) -> list[tuple[str, int, int]]:
    """Each word with its power and 1 or -1 as it stands above or below the fraction bar."""
    found = []
    for match in POWERED.finditer(tail):
        sign = -1 if match["slash"] else 1
        for word in _plain(match["piece"]):
            if word in ("per", "a", "an", "/"):
                sign = -1
                continue
            found.append((word, int(match["power"] or 1), sign))
    return found


def _plain(piece: str) -> list[str]:
    if piece == "%":
        return ["percent"]
    if match := re.fullmatch(r"\\degree\s*([CF])?", piece):
        return [f"degree{match[1] or ''}"]
    inner = re.sub(r"^\\text\{|\}$|^\\", "", piece)
    words = re.findall(r"[A-Za-z]+|/", inner.replace("mph", "mi/h"))
    return [_fold(word) for word in words if _fold(word) != "of"]


def _fold(word: str) -> str:
    return word if word in ("/",) else word.lower()


def _noun(word: str, tail: str, *, spaced: bool) -> bool:
    """Any noun in \\text is a unit; a bare word must be apart from the number and no name of a function."""
    if word in NOT_UNITS or any(part in NOT_UNITS for part in word.split()):
        return False
    if "\\text" in tail or word.startswith("degree"):
        return len(tail) <= 60
    return spaced and len(word) >= 4 and word not in MATH_WORDS


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _known(word: str) -> tuple[str, Fraction] | None:
    table = _table()
    if word in ("square", "sq", "cubic"):
        return "", Fraction(1)
    return table.get(word) or (table.get(word[:-1]) if word.endswith("s") and len(word) > 2 else None)


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[str, Fraction]]:
    table = {}
    for dimension, text in SIZES.items():
        entries = text.split()
        for name, size in zip(entries[::2], entries[1::2], strict=True):
            for spelling in (name, *SPELLINGS.get(name, "").split()):
                table[spelling] = (dimension, Fraction(size))
    return table
