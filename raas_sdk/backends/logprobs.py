"""Whether an answer's ids and logprobs can be trained on: counted, matched by id, finite, possible.

What fails here raises BackendContract. Nothing is ever padded, cut or replaced.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from raas_sdk.errors import BackendContract

__all__ = ["IMPOSSIBLE", "checked_ids", "checked_logprobs", "checked_value", "sampled_value"]

IMPOSSIBLE = -9999.0
"""Servers that cannot write minus infinity as JSON send this value or less in its place."""
ROUNDING = 1e-3
LARGEST_ID = 2**31 - 1


def checked_ids(values: Any, *, field: str) -> "array[int]":
    """Token ids as int32; raise BackendContract when the field is missing or holds anything else."""
    if not isinstance(values, list):
        fault = "no ids were sent" if values is None else f"got {values!r:.200}"
        raise BackendContract(f"{field!r} must be a list of token ids, {fault}; a text-only server cannot be used")
    for position, value in enumerate(values):
        if type(value) is not int or not 0 <= value <= LARGEST_ID:
            raise BackendContract(f"{field}[{position}] is not a token id: {value!r:.200}")
    return array("i", values)


def checked_logprobs(values: Any, token_ids: Sequence[int], *, field: str) -> "array[float]":
    """One logprob per id, float32; raise BackendContract when one is missing, not finite or above zero."""
    if values is None and not token_ids:
        return array("f")
    if not isinstance(values, list):
        raise BackendContract(f"{field!r} must be a list with one logprob per token, got {values!r:.200}")
    if len(values) != len(token_ids):
        raise BackendContract(f"{field!r} has {len(values)} entries for {len(token_ids)} token ids")
    found = [sampled_value(entry, token) for entry, token in zip(values, token_ids, strict=True)]
    bad = next((position for position, value in enumerate(found) if not _possible(value)), None)
    if bad is not None:
        checked_value(found[bad], where=f"{field}[{bad}]")
    return array("f", found)


def sampled_value(entry: Any, token_id: int) -> Any:
    """The sampled id's logprob from one position: a number, an entry with its id, or a map of candidates."""
    if not isinstance(entry, Mapping):
        return entry
    if "logprob" not in entry:
        found = entry.get(str(token_id))
        return found.get("logprob") if isinstance(found, Mapping) else found
    if _entry_id(entry) in (token_id, None):
        return entry["logprob"]
    others = entry.get("top_logprobs") or []
    return next((other["logprob"] for other in others if _entry_id(other) == token_id), None)


def checked_value(value: Any, *, where: str) -> float:
    """A logprob that a sampled token can have; raise BackendContract for any other value."""
    if _possible(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BackendContract(f"{where} gives no logprob of the sampled token: {value!r:.200}")
    raise BackendContract(f"{where} is {value!r}, which no sampled token can have as its logprob")


def _possible(value: Any) -> bool:
    # NaN and both infinities fail the comparison too.
    return type(value) in (float, int) and IMPOSSIBLE < value <= ROUNDING


def _entry_id(entry: Mapping[str, Any]) -> int | None:
    for key in ("token_id", "id"):
        if isinstance(entry.get(key), int):
            return int(entry[key])
    token = entry.get("token")
    named = token.removeprefix("token_id:") if isinstance(token, str) and token.startswith("token_id:") else ""
    return int(named) if named.isdecimal() else None
