"""What the policy saw and sampled, token by token: segments are the trainable rows of a rollout."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from raas_sdk.policy import Message
from raas_sdk.workspace import Tool

__all__ = ["Segment", "Trajectory", "TurnSpan", "tool_schema"]

TYPECODES = {"token_ids": "i", "loss_mask": "B", "logprobs": "f"}


@dataclass(frozen=True, slots=True)
class TurnSpan:
    """Where one piece of the conversation lies in its segment: tokens [start, end).

    `role` is assistant for sampled pieces; others cover the messages from `message_index` up to the next
    span's. `version` is the policy's at dispatch; `mixed` says that it changed while the turn was sampled.
    `note` tells what was out of the ordinary (for example logprobs that the backend did not give).
    """

    start: int
    end: int
    role: str
    message_index: int
    finish_reason: str | None = None
    version: int | None = None
    backend: str | None = None
    request_id: str | None = None
    seconds: float | None = None
    seed: int | None = None
    mixed: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One token stream: ids int32[T], mask uint8[T] (1 = sampled), logprobs float32[T].

    `logprobs` is 0.0 where not sampled and NaN where the backend gave none. `versions` is run-length coded
    [(count, version)], version -1 where not sampled or unknown.
    """

    token_ids: "array[int]"
    prompt_len: int
    loss_mask: "array[int]"
    logprobs: "array[float]"
    logprobs_mode: str
    versions: tuple[tuple[int, int], ...]
    turns: tuple[TurnSpan, ...]

    @property
    def sampled_tokens(self) -> int:
        """How many tokens the policy sampled."""
        return sum(self.loss_mask)

    @property
    def missing_logprobs(self) -> int:
        """How many sampled tokens have no finite, possible logprob."""
        pairs = zip(self.loss_mask, self.logprobs, strict=True)
        return sum(1 for mask, value in pairs if mask and not (math.isfinite(value) and value > -1e4))

    def to_wire(self, *, binary: bool = False) -> dict[str, Any]:
        """Plain data for JSON (lists, None for NaN) or, with `binary`, little-endian bytes <i4, u1 and <f4."""
        row: dict[str, Any] = {"prompt_len": self.prompt_len, "logprobs_mode": self.logprobs_mode}
        for name in TYPECODES:
            values: array[Any] = getattr(self, name)
            row[name] = values.tobytes() if binary else _json_list(values)
        row["versions"] = [list(run) for run in self.versions]
        row["turns"] = [span_to_wire(span) for span in self.turns]
        return row

    @classmethod
    def from_wire(cls, row: Mapping[str, Any]) -> "Segment":
        """The inverse of `to_wire`, either form."""
        arrays = {name: _array(code, row[name]) for name, code in TYPECODES.items()}
        return cls(
            **arrays,
            prompt_len=row["prompt_len"],
            logprobs_mode=row["logprobs_mode"],
            versions=tuple((int(count), int(version)) for count, version in row["versions"]),
            turns=tuple(TurnSpan(**span) for span in row["turns"]),
        )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A rollout's segments and its readable side. `submission` is what the plugin's run handed in."""

    segments: tuple[Segment, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    num_turns: int = 0
    stop_reason: str | None = None
    submission: Any = None

    @property
    def sampled_tokens(self) -> int:
        """How many tokens the policy sampled, over all segments."""
        return sum(segment.sampled_tokens for segment in self.segments)

    def to_wire(self, *, binary: bool = False) -> dict[str, Any]:
        """Plain data; see Segment.to_wire."""
        return {
            "segments": [segment.to_wire(binary=binary) for segment in self.segments],
            "messages": [dict(message) for message in self.messages],
            "tools": [tool_schema(tool) for tool in self.tools],
            "num_turns": self.num_turns,
            "stop_reason": self.stop_reason,
            "submission": self.submission,
        }

    @classmethod
    def from_wire(cls, row: Mapping[str, Any]) -> "Trajectory":
        """The inverse of `to_wire`."""
        functions = [tool["function"] for tool in row["tools"]]
        return cls(
            segments=tuple(Segment.from_wire(segment) for segment in row["segments"]),
            messages=tuple(row["messages"]),
            tools=tuple(Tool(f["name"], f["description"], f["parameters"]) for f in functions),
            num_turns=row["num_turns"],
            stop_reason=row["stop_reason"],
            submission=row["submission"],
        )


SPAN_FIELDS = tuple(item.name for item in fields(TurnSpan))


def tool_schema(tool: Tool) -> dict[str, Any]:
    """A tool in the OpenAI function format."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def span_to_wire(span: TurnSpan) -> dict[str, Any]:
    """A span as plain data; what does not apply is left out."""
    values = [(name, getattr(span, name)) for name in SPAN_FIELDS]
    return {name: value for name, value in values if value is not None and value is not False}


def _json_list(values: "array[Any]") -> list[Any]:
    if values.typecode != "f":
        return values.tolist()
    return [value if math.isfinite(value) else None for value in values]


def _array(code: str, values: bytes | Sequence[Any]) -> "array[Any]":
    if isinstance(values, bytes | bytearray | memoryview):
        out: array[Any] = array(code)
        out.frombytes(bytes(values))
        return out
    return array(code, [math.nan if value is None else value for value in values])
