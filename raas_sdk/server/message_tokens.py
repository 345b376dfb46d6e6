"""ProRL's messages: each with the token ids it stands for, cut from one segment so that joining them is exact."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.trajectory import Segment, Trajectory

__all__ = ["messages_with_tokens", "shown_segment"]


@dataclass(slots=True)
class Piece:
    """The tokens that one message carries. `start` is where they begin in the segment."""

    start: int
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float | None] | None = None


def shown_segment(trajectory: Trajectory) -> int | None:
    """Which segment the messages' token ids are cut from: the last one that holds sampled tokens.

    ProRL's clients read one token row per rollout. Further segments are in `segments` only.
    """
    sampled = [number for number, segment in enumerate(trajectory.segments) if segment.sampled_tokens]
    return sampled[-1] if sampled else len(trajectory.segments) - 1 if trajectory.segments else None


def messages_with_tokens(trajectory: Trajectory, *, full: bool = False) -> list[dict[str, Any]]:
    """The messages up to the last assistant one, with `token_ids`, `logprobs` and `input_ids`.

    The ids of several messages that were rendered together stand on the first of them, [] on the others, so
    that all ids joined are a prefix of the shown segment. `logprobs` is a list on assistant messages (None for
    a token whose logprob the backend did not give), else None. `full` puts each call's whole prompt into `input_ids`.
    """
    number = shown_segment(trajectory)
    segment = None if number is None else trajectory.segments[number]
    pieces = {} if segment is None else _pieces(segment)
    prompts = segment.token_ids.tolist() if segment is not None and full else None
    return [_told(message, pieces.get(index), prompts) for index, message in _up_to_last_reply(trajectory)]


def _up_to_last_reply(trajectory: Trajectory) -> Iterator[tuple[int, Mapping[str, Any]]]:
    replies = [index for index, message in enumerate(trajectory.messages) if message.get("role") == "assistant"]
    end = replies[-1] + 1 if replies else 0
    return enumerate(trajectory.messages[:end])


def _pieces(segment: Segment) -> dict[int, Piece]:
    pieces: dict[int, Piece] = {}
    for span in segment.turns:
        piece = pieces.setdefault(span.message_index, Piece(span.start))
        piece.token_ids.extend(segment.token_ids[span.start : span.end])
        if span.end > span.start and segment.loss_mask[span.start]:
            values = segment.logprobs[span.start : span.end]
            piece.logprobs = [*(piece.logprobs or ()), *(v if math.isfinite(v) else None for v in values)]
    return pieces


def _told(message: Mapping[str, Any], piece: Piece | None, prompts: list[int] | None) -> dict[str, Any]:
    is_reply = message.get("role") == "assistant"
    row = {**message, "token_ids": [], "logprobs": [] if is_reply else None, "input_ids": None}
    if piece is None:
        return row
    row["token_ids"] = piece.token_ids
    if piece.logprobs is not None:
        row["logprobs"] = piece.logprobs
        row["input_ids"] = None if prompts is None else prompts[: piece.start]
    elif is_reply:
        row["logprobs"] = None
    return row
