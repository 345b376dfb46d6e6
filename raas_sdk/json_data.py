"""Data that leaves the process must be plain JSON: checked, and copied so that nobody changes it afterwards."""

import json
from typing import Any

__all__ = ["json_copy"]


def json_copy(value: Any) -> Any:
    """Return a deep copy made of dicts, lists, text, numbers, booleans and None; raise ValueError for anything else.

    Tuples become lists and keys text, as JSON has it. NaN, infinities, cycles and lone surrogates are refused.
    """
    try:
        return json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not JSON-able: {error}") from error
