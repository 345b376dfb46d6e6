"""JSON as models write it: read strictly enough to be sure of the meaning, and never with a crash."""

import json
import math
import re
from typing import Any, NamedTuple

__all__ = ["JsonFault", "JsonValue", "read_json", "read_json_at"]


DEEPEST = 200
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
SPACE = re.compile(r"\s*")


class JsonFault(ValueError):
    """The text is not JSON; the message says where it stops making sense."""


class JsonValue(NamedTuple):
    """A value and the position after it."""

    value: Any
    end: int


def read_json_at(text: str, start: int) -> JsonValue:
    """The JSON value that begins at `start`, white space skipped; raise JsonFault."""
    try:
        value, end = DECODER.raw_decode(text, SPACE.match(text, start).end())  # type: ignore[union-attr]
    except RecursionError as error:
        raise JsonFault("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - 20) : error.pos + 20]
        raise JsonFault(f"{error.msg} near {near!r}") from error
    except ValueError as error:
        raise JsonFault(str(error)) from error
    if _deeper_than(value, DEEPEST):
        raise JsonFault("it is nested too deeply")
    if ESCAPED_SURROGATE.search(text, start, end) and _has_lone_surrogate(value):
        raise JsonFault("it holds half of a surrogate pair, which is no character")
    return JsonValue(value, end)


def read_json(text: str) -> Any:
    """The one JSON value that the text is; raise JsonFault."""
    value, end = read_json_at(text, 0)
    if text[end:].strip():
        raise JsonFault(f"extra text after the value: {text[end:].strip()[:60]!r}")
    return value


def _has_lone_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _deeper_than(value: Any, levels: int) -> bool:
    row = [value]
    for _ in range(levels):
        if not row:
            return False
        row = [item for part in row for item in _items(part)]
    return bool(row)


def _items(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return list(part.values())
    return part if isinstance(part, list) else []


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonFault(f"the number {text[:40]} is too large")
    return value


def _no_constant(name: str) -> Any:
    raise JsonFault(f"{name} is not a JSON value")


# Raw line breaks in strings are allowed: models write them in code, and their meaning is plain.
DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_no_constant)
