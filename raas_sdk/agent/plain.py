"""Calls for models without tool training: fenced blocks whose first line names a tool.

    ```python            an alias, or the tool's own name
    12 + 5
    ```

The body is the tool's first required text argument, or a JSON object with the tool's keys. A fence that names
no tool of the job is content. Decisions: a fence that is still open when the model stopped by itself counts,
since such models often stop there; one that the length limit cut never does. The messages of finish and think
may hold fences of their own; in any other tool's body a line that opens a fence ends the block. `content` keeps
the whole reply, because in this style the calls are part of what the model says.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raas_sdk.agent.json_text import JsonFault, read_json
from raas_sdk.agent.raw_call import RawCall, RawError, RawReply
from raas_sdk.workspace import Tool

__all__ = ["ALIASES", "FENCE", "fence_skipper", "names_a_tool", "plain_argument", "read_plain"]

ALIASES: Mapping[str, tuple[str, ...]] = {
    "bash": ("execute_bash",),
    "ipython": ("execute_ipython_cell",),
    "py": ("execute_ipython_cell", "ipython"),
    "python": ("execute_ipython_cell", "ipython"),
    "python3": ("execute_ipython_cell", "ipython"),
    "sh": ("execute_bash",),
    "shell": ("execute_bash",),
}
PROSE_TOOLS = ("finish", "think")
FENCE = "```"
FENCE_LINE = re.compile(r"^ {0,3}(`{3,})[ \t]*([^\s`]*)[^\n`]*$", re.MULTILINE)
CUT = "the fenced block was cut off by the length limit and was not run: the reply was truncated"


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block: the word after its opening, its body, and whether it was closed."""

    word: str
    body: str
    closed: bool


def read_plain(text: str, tools: Sequence[Tool], *, cut: bool) -> RawReply:
    """Find the calls of a reply without reasoning; `cut` says that the backend stopped it early."""
    parts: list[RawCall | RawError] = []
    for fence in _fences(text, tools):
        tool = _tool_named(fence.word, tools)
        if tool is None:
            continue
        if not fence.closed and cut:
            parts.append(RawError(CUT))
            continue
        parts.append(RawCall({"name": tool.name, "arguments": _arguments(fence.body, tool)}))
    return RawReply(text.strip(), tuple(parts))


def fence_skipper() -> Callable[[str, int], int]:
    """A function that says where a fence ends, or gives the position back if it never does."""

    def skip(text: str, position: int) -> int:
        end = text.find(FENCE, position)
        return position if end < 0 else end + len(FENCE)

    return skip


def names_a_tool(text: str, tools: Sequence[Tool]) -> bool:
    """Whether some fence in the text names a tool."""
    return any(_tool_named(line.group(2), tools) for line in FENCE_LINE.finditer(text))


def plain_argument(tool: Tool) -> str | None:
    """The argument that a fence's body fills: the first required text argument, else the first of text."""
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    required = [name for name in tool.parameters.get("required") or () if name in properties]
    texts = [name for name in [*required, *properties] if properties[name].get("type") == "string"]
    return texts[0] if texts else None


def _fences(text: str, tools: Sequence[Tool]) -> Iterator[Fence]:
    opening: re.Match[str] | None = None
    depth = 0
    for line in FENCE_LINE.finditer(text):
        word = line.group(2)
        if opening is None:
            opening, depth = line, 1
            continue
        if len(line.group(1)) < len(opening.group(1)):
            continue
        tool = _tool_named(opening.group(2), tools)
        if word and tool is not None and tool.name in PROSE_TOOLS:
            depth += 1
        elif word:
            yield Fence(opening.group(2), _body(text, opening, line.start()), closed=True)
            opening, depth = line, 1
        else:
            depth -= 1
            if depth == 0:
                yield Fence(opening.group(2), _body(text, opening, line.start()), closed=True)
                opening = None
    if opening is not None:
        yield Fence(opening.group(2), _body(text, opening, len(text)), closed=False)


def _body(text: str, opening: "re.Match[str]", end: int) -> str:
    body = text[opening.end() + 1 : end]
    return body[:-1] if body.endswith("\n") else body


def _tool_named(word: str, tools: Sequence[Tool]) -> Tool | None:
    names = (word, *ALIASES.get(word.lower(), ()))
    by_name = {tool.name: tool for tool in tools}
    return next((by_name[name] for name in names if name in by_name), None)


def _arguments(body: str, tool: Tool) -> Any:
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    if body.lstrip().startswith("{"):
        try:
            value = read_json(body)
        except JsonFault:
            value = None
        required = set(tool.parameters.get("required") or ())
        if isinstance(value, dict) and set(value) <= set(properties) and required <= set(value):
            return value
    argument = plain_argument(tool)
    return {} if argument is None else {argument: body}
