"""A sampled reply as the loop reads it: reasoning, content and tool calls, good and bad, in order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["CallError", "ParsedReply", "ToolCall"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that may be run: its tool exists and `arguments` fit the tool's schema."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallError:
    """A call that must not be run; `text` tells the model why. `name` is the tool it meant, if known."""

    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply holds. `truncated` says that the backend cut it, so an unfinished call in it is dead.

    `content` is the reply without its reasoning and, where calls have their own markup, without the calls that
    could be read. `reasoning` is None where the reply has no think block; with `open_reasoning` the last block
    never closed and swallowed the rest of the reply.
    """

    content: str
    reasoning: str | None = None
    parts: tuple[ToolCall | CallError, ...] = ()
    truncated: bool = False
    open_reasoning: bool = False

    @property
    def readable(self) -> str:
        """Reasoning and content as one text, in the form chat templates read."""
        if self.reasoning is None:
            return self.content
        if self.open_reasoning:
            return f"{self.content}<think>\n{self.reasoning}"
        return f"<think>\n{self.reasoning}\n</think>\n\n{self.content}"

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls to run, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def errors(self) -> tuple[str, ...]:
        """One text for the model for each bad call, in order."""
        return tuple(part.text for part in self.parts if isinstance(part, CallError))
