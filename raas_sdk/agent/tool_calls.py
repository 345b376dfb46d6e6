"""The only parser of tool calls: a reply's text in, content, calls to run and errors for the model out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raas_sdk.agent import hermes, plain
from raas_sdk.agent.json_text import JsonFault, read_json
from raas_sdk.agent.raw_call import RawCall, RawError, RawReply
from raas_sdk.agent.reasoning import split_reasoning
from raas_sdk.agent.reply import CallError, ParsedReply, ToolCall
from raas_sdk.agent.schema import SchemaFault, fitted
from raas_sdk.workspace import Tool

__all__ = ["FORMATS", "CallFormat", "parse_tool_calls"]

CUT_REASONS = frozenset({"length", "abort"})
OPEN_REASONING = "the reasoning was never closed with </think>, so the tool call inside it was not run"


@dataclass(frozen=True, slots=True)
class CallFormat:
    """How one style of calls is read.

    `skipper()` makes a function that says where the call after an `opener` ends; `tempted(text, tools)` tells
    whether text in reasoning looks like a call.
    """

    opener: str
    skipper: Callable[[], Callable[[str, int], int]]
    read: Callable[[str, Sequence[Tool], bool], RawReply]
    tempted: Callable[[str, Sequence[Tool]], bool]


def parse_tool_calls(
    text: str, tools: Sequence[Tool], *, format: str, finish_reason: str = "stop", id_prefix: str = "call"
) -> ParsedReply:
    """Read a sampled reply; never raises on what the model wrote.

    `format` is 'hermes' or 'plain' (ValueError for others). `finish_reason` 'length' or 'abort' marks a reply
    that the backend cut: an unfinished call in it is an error and is not run. Ids are `id_prefix`_1, _2, ….
    """
    style = FORMATS.get(format)
    if style is None:
        raise ValueError(f"unknown tool-call format {format!r}; known: {', '.join(sorted(FORMATS))}")
    cut = finish_reason in CUT_REASONS
    reasoned = split_reasoning(text, opener=style.opener, skip=style.skipper())
    raw = style.read(reasoned.rest, tools, cut)
    parts = list(_checked(raw.parts, {tool.name: tool for tool in tools}, id_prefix))
    unclosed = reasoned.open_reasoning is not None
    if reasoned.open_reasoning is not None and not cut and style.tempted(reasoned.open_reasoning, tools):
        parts.append(CallError(OPEN_REASONING))
    return ParsedReply(raw.content, reasoned.reasoning, tuple(parts), truncated=cut, open_reasoning=unclosed)


def _checked(
    parts: Sequence[RawCall | RawError], tools: Mapping[str, Tool], id_prefix: str
) -> Iterator[ToolCall | CallError]:
    for number, part in enumerate(parts, start=1):
        if isinstance(part, RawError):
            yield CallError(part.text)
        else:
            yield _checked_call(part.value, tools, f"{id_prefix}_{number}")


def _checked_call(value: Any, tools: Mapping[str, Tool], call_id: str) -> ToolCall | CallError:
    if not isinstance(value, dict):
        return CallError('a tool call must be a JSON object with "name" and "arguments"')
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return CallError('the tool call has no "name" of a tool as text')
    tool = tools.get(name.strip())
    if tool is None:
        available = ", ".join(tools) or "none"
        return CallError(f"unknown tool {name!r}; available tools: {available}")
    try:
        arguments = fitted(_arguments(value), {"type": "object", **tool.parameters})
    except (SchemaFault, JsonFault) as fault:
        return CallError(f"{tool.name}: {fault}", tool.name)
    return ToolCall(call_id, tool.name, arguments)


def _arguments(value: Mapping[str, Any]) -> Any:
    given = value.get("arguments", value.get("parameters"))
    if isinstance(given, str):
        try:
            given = read_json(given) if given.strip() else {}
        except JsonFault as fault:
            raise JsonFault(f"arguments are text that could not be parsed as JSON: {fault}") from fault
    return {} if given is None else given


def _calls_in(text: str, tools: Sequence[Tool]) -> bool:
    return any(isinstance(part, RawCall) for part in hermes.read_hermes(text, cut=False).parts)


FORMATS: Mapping[str, CallFormat] = {
    "hermes": CallFormat(
        opener=hermes.OPENER,
        skipper=hermes.call_skipper,
        read=lambda text, tools, cut: hermes.read_hermes(text, cut=cut),
        tempted=_calls_in,
    ),
    "plain": CallFormat(
        opener=plain.FENCE,
        skipper=plain.fence_skipper,
        read=lambda text, tools, cut: plain.read_plain(text, tools, cut=cut),
        tempted=plain.names_a_tool,
    ),
}
