"""Checks that ids, masks and logprobs still belong to each other."""

import math
from array import array
from collections.abc import Iterable, Sequence

from raas_sdk.errors import BackendContract
from raas_sdk.trajectory import Segment, TurnSpan

__all__ = ["LOGPROB_ROUNDING", "as_ids", "as_logprobs", "check_segment", "version_runs"]

LOGPROB_ROUNDING = 1e-6
"""How far above 0 a logprob may lie and still count as rounding of a certain token."""


def as_ids(ids: Iterable[int], *, vocab_size: int | None) -> "array[int]":
    """Token ids as int32; raise ValueError for what is no whole number inside the vocabulary."""
    given = ids if isinstance(ids, array) else list(ids)
    if not isinstance(given, array) and bool in set(map(type, given)):
        raise ValueError("token ids must be integers, got a boolean")
    try:
        out = array("i", given)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"token ids must be 32-bit integers: {error}") from error
    if out and (min(out) < 0 or (vocab_size is not None and max(out) >= vocab_size)):
        size = "the vocabulary" if vocab_size is None else f"the vocabulary of {vocab_size}"
        raise ValueError(f"token ids from {min(out)} to {max(out)} do not fit {size}")
    return out


def as_logprobs(values: Sequence[float] | None, *, count: int, may_miss: bool) -> "array[float]":
    """Logprobs of `count` sampled tokens as float32; raise BackendContract if they can't be true.

    NaN stands for a value the backend did not give and passes only with `may_miss`.
    """
    if values is None:
        raise BackendContract("the backend gave no logprobs; a turn without them cannot be trained on")
    if len(values) != count:
        raise BackendContract(f"the backend gave {count} token ids and {len(values)} logprobs")
    try:
        out = array("f", values)
    except TypeError as error:
        raise BackendContract(f"logprobs must be numbers: {error}") from error
    wrong = [value for value in out if not _possible(value, may_miss=may_miss)]
    if wrong:
        raise BackendContract(f"{len(wrong)} of {count} logprobs are impossible, the first is {wrong[0]!r}")
    return out


def _possible(value: float, *, may_miss: bool) -> bool:
    if math.isnan(value):
        return may_miss
    return math.isfinite(value) and value <= LOGPROB_ROUNDING


def version_runs(spans: Iterable[TurnSpan]) -> tuple[tuple[int, int], ...]:
    """Policy versions run-length coded [(count, version)]; -1 where not sampled or unknown."""
    runs: list[tuple[int, int]] = []
    for span in spans:
        version = span.version if span.role == "assistant" and span.version is not None else -1
        count = span.end - span.start
        if runs and runs[-1][1] == version:
            runs[-1] = (runs[-1][0] + count, version)
        elif count:
            runs.append((count, version))
    return tuple(runs)


def check_segment(segment: Segment, *, vocab_size: int | None = None) -> None:
    """Raise ValueError unless the segment's arrays, spans and version runs describe the same tokens."""
    length = len(segment.token_ids)
    as_ids(segment.token_ids, vocab_size=vocab_size)
    facts = {
        "mask and ids differ in length": len(segment.loss_mask) == length,
        "logprobs and ids differ in length": len(segment.logprobs) == length,
        "the prompt lies outside the segment": 0 <= segment.prompt_len <= length,
        "a prompt token counts as sampled": not any(segment.loss_mask[: segment.prompt_len]),
        "the version runs do not cover the segment": sum(c for c, _ in segment.versions) == length,
        "the spans leave gaps or overlap": _spans_cover(segment.turns, length),
        "the mask disagrees with the spans": segment.loss_mask == _mask_of(segment.turns),
        "a token that was not sampled has a logprob": _only_sampled(segment),
    }
    broken = [fault for fault, holds in facts.items() if not holds]
    if broken:
        raise ValueError(f"segment of {length} tokens: {'; '.join(broken)}")


def _spans_cover(spans: Sequence[TurnSpan], length: int) -> bool:
    starts = [span.start for span in spans] + [length]
    ends = [0] + [span.end for span in spans]
    return starts == ends


def _mask_of(spans: Sequence[TurnSpan]) -> "array[int]":
    mask = array("B")
    for span in spans:
        sampled = span.role == "assistant" and span.finish_reason is not None
        mask.extend(array("B", [sampled]) * (span.end - span.start))
    return mask


def _only_sampled(segment: Segment) -> bool:
    pairs = zip(segment.loss_mask, segment.logprobs, strict=False)  # their lengths are a fact of their own
    return all(mask or value == 0.0 for mask, value in pairs)
