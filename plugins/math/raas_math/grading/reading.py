"""Reading: a spelled text to its structure, by the first rule that fits. Nothing is compared here."""

from __future__ import annotations

import re
from fractions import Fraction

from raas_math.grading.doubt import Doubt
from raas_math.grading.expression import Apply, Expression, Number
from raas_math.grading.matrix import Grid, grid
from raas_math.grading.parser import parse
from raas_math.grading.split import outside, pieces, whole_bracket
from raas_math.grading.structure import (
    Based,
    Bracketed,
    Clock,
    Listing,
    Matrix,
    Ratio,
    Relation,
    Structure,
    Union,
    Unread,
    Value,
    Words,
)
from raas_math.grading.tokens import FUNCTIONS
from raas_math.grading.unit import split_unit

__all__ = ["fold", "read", "readings"]

DEEPEST = 8
MOST_ITEMS = 200
AND = r"\\text\{\s*,?\s*(?:and|&)\s*\}|(?<![A-Za-z\\])and(?![A-Za-z])"
OR = r"\\text\{\s*,?\s*or\s*\}|(?<![A-Za-z\\])or(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])"
COMMA = re.compile(rf",\s*(?:{AND}|{OR})|[,;]|{AND}|{OR}")
LOOSE_COMMA = re.compile(rf",\s*(?:{AND}|{OR})|;|,(?!\d{{3}}(?!\d))|(?<!\d),|{AND}|{OR}")
THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
SIGNS = {
    "=": "=", "<": "<", ">": ">", "\\leq": "<=", "\\geq": ">=", "\\neq": "!=", "\\approx": "~", "\\in": "in",
    "\\equiv": "=", ":=": "=",
}  # fmt: skip
RELATION = re.compile(r":=|[=<>]|\\(?:leq|geq|neq|approx|equiv|in)(?![A-Za-z])")
CUP = re.compile(r"\\cup(?![A-Za-z])|(?<=[)\]}])\s*U\s*(?=[(\[{\\])")
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:\\text\{)?\s*([ap])?\.?\s*(m)?\.?\s*\}?", re.IGNORECASE)
BASED = re.compile(r"\(?\s*((?:\\text\{)?[0-9A-Za-z]+\}?)\s*\)?\s*_\s*\{?\s*(?:\\text\{)?(\d{1,2}|[a-z]{3,9})\}?\s*\}?")
WORDY = re.compile(r"(?:\\text\{[^{}]*\}|[A-Za-z\s,.;:'’\"()?!-])+")
TEXT = re.compile(r"\\text\{([^{}]*)\}")
BUILDER = re.compile(r"[A-Za-z]\s*(?:\\in\s*\\reals\s*)?[|:]\s*(.+)")
WORDS_INSIDE = re.compile(r"[A-Za-z]{2,}")
BASED_DIGITS = re.compile(r"(?:\\text\{)?(?:[A-Z]+|[a-f]{2,}|(?=.*\d)[0-9A-Za-z]+)\}?")
BASE_WORDS = "two three four five six seven eight nine ten eleven twelve"
BASE_NAMES = {name: str(number) for number, name in enumerate(BASE_WORDS.split(), start=2)}


def readings(spelled: str) -> list[Structure]:
    """Every reading the text allows: 1,234 alone is a number, and it may be a list of two."""
    first = read(spelled)
    if THOUSANDS.search(spelled) and "." not in spelled and whole_bracket(spelled) is None:
        return [first, _read(spelled, 0, strict_commas=True)]
    return [first]


def read(spelled: str) -> Structure:
    """What the spelled text is; `Unread` with the reason when no rule reads it. Never raises on any text."""
    return _read(spelled, 0, strict_commas=False)


def _read(text: str, depth: int, *, strict_commas: bool) -> Structure:
    try:
        if depth > DEEPEST:
            raise Doubt("too_deep")
        return _Reader(depth, strict_commas=strict_commas).structure(text)
    except Doubt as doubt:
        return Unread(text, doubt.reason)


class _Reader:
    def __init__(self, depth: int, *, strict_commas: bool) -> None:
        self.depth = depth
        self.strict_commas = strict_commas

    def inner(self, text: str, *, bracketed: bool = False) -> Structure:
        return _read(text, self.depth + 1, strict_commas=self.strict_commas or bracketed)

    def structure(self, text: str) -> Structure:
        if not text:
            raise Doubt("empty")
        for rule in (_clock, _based, _words, self.union, self.listing, self.relation, self.ratio, self.matrix):
            found = rule(text)
            if found is not None:
                return found
        return self.bracketed(text) or self.value(text)

    def union(self, text: str) -> Structure | None:
        if not CUP.search(text) or outside(text, RELATION):
            return None
        parts = [piece.text for piece in pieces(text, CUP)]
        return Union(tuple(self.inner(part, bracketed=True) for part in parts)) if len(parts) > 1 else None

    def listing(self, text: str) -> Structure | None:
        parts = pieces(text, COMMA if self.strict_commas else LOOSE_COMMA)
        if len(parts) == 1:
            return None
        if len(parts) > MOST_ITEMS or any(not part.text for part in parts):
            raise Doubt("unreadable_list")
        separators = {part.separator.lstrip(", ") for part in parts[1:]}
        joint = all(re.fullmatch(AND, separator) for separator in separators)
        return _labelled(Listing(tuple(self.inner(part.text) for part in parts), joint=joint))

    def relation(self, text: str) -> Structure | None:
        parts = pieces(text, RELATION)
        if len(parts) == 1:
            return None
        if len(parts) > 6:
            raise Doubt("unreadable_relation")
        if not parts[0].text:
            parts = parts[1:]
            if len(parts) == 1 and SIGNS[parts[0].separator] in ("=", "~"):
                return self.inner(parts[0].text)
        if len(parts) < 2 or any(not part.text for part in parts):
            raise Doubt("unreadable_relation")
        sides = tuple(self.inner(part.text) for part in parts)
        return Relation(sides, tuple(SIGNS[part.separator] for part in parts[1:]))

    def ratio(self, text: str) -> Structure | None:
        parts = pieces(text, re.compile(":"))
        if len(parts) == 1:
            return None
        if any(not part.text for part in parts):
            raise Doubt("unreadable")
        return Ratio(tuple(self.inner(part.text) for part in parts))

    def matrix(self, text: str) -> Structure | None:
        found = grid(text)
        if found is None:
            return None
        factor = parse(found.factor) if found.factor else None
        rows = tuple(tuple(self.cell(cell, factor) for cell in row) for row in found.rows)
        return Matrix(rows, _matrix_kind(found))

    def cell(self, text: str, factor: Expression | None) -> Structure:
        node = parse(_without_thousands(text))
        return Value(node if factor is None else Apply("mul", (factor, node)))

    def bracketed(self, text: str) -> Structure | None:
        whole = whole_bracket(text)
        if whole is None:
            return None
        opener, inside, closer = whole
        if not inside:
            raise Doubt("empty")
        if opener == "\\{" and (builder := BUILDER.fullmatch(inside)):
            return self.inner(builder[1])
        if opener in ("\\{", "{"):
            return Listing(self.items(inside), braces=True) if closer in ("\\}", "}") else None
        if len(pieces(inside, COMMA)) == 1:
            return self.inner(inside) if (opener, closer) in (("(", ")"), ("[", "]")) else None
        return Bracketed(opener, self.items(inside), closer)

    def items(self, inside: str) -> tuple[Structure, ...]:
        parts = pieces(inside, COMMA)
        if len(parts) > MOST_ITEMS:
            raise Doubt("too_long")
        return tuple(self.inner(part.text, bracketed=True) for part in parts)

    def value(self, text: str) -> Structure:
        if text in ("\\emptyset", "\\reals"):
            return Words(text)
        plus_minus = len(re.findall(r"\\(?:pm|mp)(?![A-Za-z])", text))
        if plus_minus == 1:
            both = (re.sub(r"\\(?:pm|mp)(?![A-Za-z])", sign, text) for sign in "+-")
            return Listing(tuple(self.inner(side) for side in both))
        if plus_minus:
            raise Doubt("ambiguous")
        tail = split_unit(text)
        node = parse(_without_thousands(tail.value))
        if tail.scale != 1:
            node = Apply("mul", (node, Number(Fraction(tail.scale))))
        return Value(node, tail.unit)


def _without_thousands(text: str) -> str:
    return THOUSANDS.sub(lambda match: match[1].replace(",", ""), text)


def _matrix_kind(found: Grid) -> str:
    return "det" if found.name == "vmatrix" else "matrix"


def _clock(text: str) -> Clock | None:
    match = CLOCK.fullmatch(text)
    if match is None or bool(match[4]) != bool(match[5]):
        return None
    hour, minute, second = (int(part) for part in (match[1], match[2], match[3] or "0"))
    if minute > 59 or second > 59 or hour > 24:
        return None
    return Clock((hour, minute, second), f"{match[4]}m".lower() if match[4] else "")


def _based(text: str) -> Based | None:
    match = BASED.fullmatch(text)
    if match is None or not BASED_DIGITS.fullmatch(match[1]):
        return None
    base = BASE_NAMES.get(match[2], match[2])
    digits = re.sub(r"\\text\{|\}", "", match[1]).upper().lstrip("0") or "0"
    return Based(digits, base) if base.isdigit() else None


def _words(text: str) -> Structure | None:
    """Words only, one or a list of them; letters that say a formula such as xy, sin x or e are no words."""
    if not WORDY.fullmatch(text) or not WORDS_INSIDE.search(text.replace("\\text", "")):
        return None
    if not _all_words(text):
        return None
    parts = [TEXT.sub(r"\1", part).strip() for part in re.split(COMMA, TEXT.sub(r" \1 ", text))]
    words = tuple(Words(folded) for part in parts if (folded := fold(part)))
    if not words:
        return None
    if any(len(word.text.split()) > 3 for word in words):
        return Words(" ".join(word.text for word in words))
    return words[0] if len(words) == 1 else Listing(words)


def fold(text: str) -> str:
    """Words in lower case with single blanks and without punctuation."""
    return re.sub(r"[\s,.;:\"?!()]+", " ", text).strip().casefold()


def _all_words(text: str) -> bool:
    bare = WORDS_INSIDE.findall(re.sub(rf"{AND}|{OR}", " ", TEXT.sub(" ", text)))
    loose = re.findall("[A-Za-z]+", re.sub(rf"{AND}|{OR}", " ", TEXT.sub(" ", text)))
    inside = [word for word in TEXT.findall(text) if fold(word) not in ("and", "or")]
    names = [name for name in bare if name not in FUNCTIONS and name not in ("pi", "inf")]
    if not loose:
        return bool(inside)
    return any(len(name) >= 4 or name.lower() in LITTLE_WORDS or name.isupper() for name in names)


LITTLE_WORD_LIST = (
    "no on an at in is it of or so to up us we me my he be by do go if all and any are but can day few for has "
    "her him his how may new nor not now odd off old one our out red she ten the too top two six use was way who "
    "why yes you saw sat sun mon tue wed thu fri jan feb mar apr jun jul aug sep oct nov dec"
)
LITTLE_WORDS = frozenset(LITTLE_WORD_LIST.split())


def _labelled(found: Listing) -> Structure:
    """`k = 2, 4, 6` is one label for the whole list."""
    first, *rest = found.items
    if (
        not isinstance(first, Relation)
        or first.signs not in (("=",), ("in",))
        or any(isinstance(i, Relation) for i in rest)
    ):
        return found
    return Relation((first.sides[0], Listing((first.sides[1], *rest))), ("=",))
