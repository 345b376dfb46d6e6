"""Data that leaves the process must be plain JSON: checked, and copied so that nobody changes it afterwards."""

import json
import math
from typing import Any

__all__ = ["json_copy"]

ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


def json_copy(value: Any) -> Any:
    """Return a deep copy made of dicts, lists, text, numbers, booleans and None; raise ValueError for anything else.

    Tuples become lists and keys text, as JSON has it. NaN, infinities, cycles and lone surrogates are refused.
    """
    try:
        return _copied(value)
    except (TypeError, ValueError, RecursionError):
        return _through_json(value)


def _copied(value: Any) -> Any:
    """The copy of what is plain already, many times as fast; raise TypeError or ValueError where JSON must decide."""
    kind = type(value)
    if kind is str:
        value.encode()  # refuses lone surrogates
        return value
    if kind is dict:
        return {_text(key): _copied(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_copied(item) for item in value]
    if value is None or kind is bool or (kind is int and -(2**63) <= value < 2**63):
        return value
    if kind is float and math.isfinite(value):
        return value
    raise TypeError(kind)


def _text(key: Any) -> str:
    if type(key) is not str:
        raise TypeError(key)
    key.encode()
    return key


def _through_json(value: Any) -> Any:
    try:
        text = ENCODER.encode(value)
        text.encode()  # refuses lone surrogates
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON-able: {error}") from error
