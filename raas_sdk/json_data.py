"""Data that leaves the process must be plain JSON: checked, and copied so that nobody changes it afterwards."""

import json
from typing import Any

__all__ = ["json_copy"]


ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


def json_copy(value: Any) -> Any:
    """Return a deep copy made of dicts, lists, text, numbers, booleans and None; raise ValueError for anything else.

    Tuples become lists and keys text, as JSON has it. NaN, infinities, cycles and lone surrogates are refused.
    """
    try:
        if type(value) in (dict, list) and not value:
            return type(value)()
        if type(value) is str:
            value.encode()
            return value
        text = ENCODER.encode(value)
        text.encode()  # refuses lone surrogates
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON-able: {error}") from error
