"""The logprobs of a llama.cpp answer, put to the tokens they belong to.

The server leaves out the probability of a token after which its text ends inside a UTF-8 character, though
the token's id is there. What is given is matched by id; where the match is not certain the value is NaN.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from raas_sdk.backends.logprobs import checked_value, sampled_value
from raas_sdk.errors import BackendContract

__all__ = ["aligned_logprobs"]


def aligned_logprobs(entries: Any, token_ids: Sequence[int]) -> "array[float]":
    """One value per token, NaN where none is certain; raise BackendContract for values that fit no token."""
    given = _checked_entries(entries)
    if [token for token, _ in given] == list(token_ids):
        return array("f", [value for _, value in given])
    places = _certain_places([token for token, _ in given], token_ids)
    out = array("f", [math.nan]) * len(token_ids)
    for place, (_, value) in zip(places, given, strict=True):
        if place is not None:
            out[place] = value
    return out


def _checked_entries(entries: Any) -> list[tuple[int, float]]:
    if entries is None:  # the field is absent when every entry is
        return []
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise BackendContract(f"'completion_probabilities' must be a list of objects, got {entries!r:.200}")
    return [_checked_entry(entry, position) for position, entry in enumerate(entries)]


def _checked_entry(entry: Mapping[str, Any], position: int) -> tuple[int, float]:
    where = f"completion_probabilities[{position}]"
    token = entry.get("id")
    if type(token) is not int:
        raise BackendContract(f"{where} has no token id: {entry!r:.200}")
    return token, checked_value(sampled_value(entry, token), where=where)


def _certain_places(given: Sequence[int], token_ids: Sequence[int]) -> list[int | None]:
    """Where each given id must lie: the earliest and the latest match agree, or it is not certain."""
    earliest = _matches(given, token_ids)
    backwards = _matches(given[::-1], token_ids[::-1])
    latest = [len(token_ids) - 1 - place for place in reversed(backwards)]
    return [first if first == last else None for first, last in zip(earliest, latest, strict=True)]


def _matches(given: Sequence[int], token_ids: Sequence[int]) -> list[int]:
    places: list[int] = []
    start = 0
    for token in given:
        place = next((i for i in range(start, len(token_ids)) if token_ids[i] == token), None)
        if place is None:
            raise BackendContract(f"logprobs for ids {given!r:.200} do not fit the tokens {token_ids!r:.200}")
        places.append(place)
        start = place + 1
    return places
