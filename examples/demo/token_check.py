"""Holds results against the backend's own log: every id sent and sampled must be the same."""

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["compare_with_log"]


def compare_with_log(results: list[dict[str, Any]], log: Path) -> list[str]:
    """Print what was compared; return one text per fault."""
    calls = {_key(call["request"]["prompt"], call["response"]["tokens"]) for call in _sampling_calls(log)}
    faults: list[str] = []
    turns = tokens = 0
    for result in results:
        for segment in result["segments"]:
            faults += [f"{result['job_id']}: {fault}" for fault in _segment_faults(segment, calls)]
            turns += sum(1 for span in segment["turns"] if span["role"] == "assistant")
            tokens += sum(segment["loss_mask"])
    print(
        f"token check: {turns} turns, {tokens} sampled tokens compared with the model's own log: {len(faults)} differ"
    )
    return faults


def _sampling_calls(log: Path) -> list[dict[str, Any]]:
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    return [call for call in calls if call["path"] == "/completion" and call["status"] == 200]


def _segment_faults(segment: dict[str, Any], calls: set[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[str]:
    ids, mask, logprobs = segment["token_ids"], segment["loss_mask"], segment["logprobs"]
    sampled = [span for span in segment["turns"] if span["role"] == "assistant"]
    faults = [
        f"tokens {span['start']} to {span['end']} are not what the model was sent and sampled"
        for span in sampled
        if _key(ids[: span["start"]], ids[span["start"] : span["end"]]) not in calls
    ]
    if sum(mask) != sum(span["end"] - span["start"] for span in sampled):
        faults.append("the mask does not cover exactly the sampled tokens")
    bare = [i for i, masked in enumerate(mask) if masked and not _finite(logprobs[i])]
    if any(not _noted(i, sampled) for i in bare):
        faults.append("a sampled token has no finite logprob and its turn does not say so")
    return faults


def _noted(place: int, sampled: list[dict[str, Any]]) -> bool:
    return any(span["start"] <= place < span["end"] and span.get("note") for span in sampled)


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _key(sent: list[int], sampled: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(sent), tuple(sampled)
