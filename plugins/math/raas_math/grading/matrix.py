"""Matrix: the cells of a LaTeX matrix or of nested brackets, as text. Cells are not read here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from raas_math.grading.doubt import Doubt
from raas_math.grading.split import pieces, whole_bracket

__all__ = ["Grid", "grid"]

ENVIRONMENT = re.compile(
    r"(?P<factor>.*?)\*?\s*[(\[|]?\s*\\begin\s*\{(?P<name>[pbvBV]?matrix|smallmatrix|array)\}(?:\s*\{[clr|]*\})?"
    r"(?P<body>.*)\\end\s*\{(?P=name)\}\s*[)\]|]?",
    re.DOTALL,
)
ROW = re.compile(r"\\cr(?![A-Za-z])(?:\s*\[[\d.]+(?:pt|em|ex|mm)\])?")
CELL = re.compile(r"(?<!\\)&")
COMMA = re.compile(",")
MOST_CELLS = 400


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cell texts, the name of the environment, and the text of a factor in front."""

    rows: tuple[tuple[str, ...], ...]
    name: str
    factor: str = ""


def grid(text: str) -> Grid | None:
    """The cells when the text is one matrix, else None; raise `Doubt` when rows differ in length."""
    match = ENVIRONMENT.fullmatch(text) if "\\begin" in text else None
    if match is None:
        return _nested(text)
    if "\\begin" in match["body"]:
        raise Doubt("unreadable_matrix")
    rows = [row for row in ROW.split(match["body"]) if row.replace("\\hline", "").strip()]
    cells = tuple(tuple(cell.strip() for cell in CELL.split(row.replace("\\hline", ""))) for row in rows)
    return _checked(Grid(cells, match["name"], match["factor"].strip()))


def _nested(text: str) -> Grid | None:
    """The rows of a matrix written as [[1, 2], [3, 4]]."""
    outer = whole_bracket(text)
    if outer is None or outer[0] != "[" or outer[2] != "]":
        return None
    rows = [whole_bracket(piece.text) for piece in pieces(outer[1], COMMA)]
    if not all(row and row[0] == "[" and row[2] == "]" for row in rows):
        return None
    return _checked(Grid(tuple(tuple(c.text for c in pieces(row[1], COMMA)) for row in rows if row), "nested"))


def _checked(found: Grid) -> Grid:
    widths = {len(row) for row in found.rows}
    if len(widths) != 1 or len(found.rows) * max(widths) > MOST_CELLS:
        raise Doubt("unreadable_matrix")
    return found
