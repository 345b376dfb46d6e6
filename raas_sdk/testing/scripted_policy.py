"""A policy that reads its replies from a script, to test a plugin's run without a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.errors import LimitReached
from raas_sdk.limits import Limits
from raas_sdk.policy import Message, Turn
from raas_sdk.workspace import Tool

__all__ = ["Reply", "ScriptedConversation", "ScriptedPolicy", "ScriptedReply"]


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """A reply with a finish_reason of its own, for example 'length'."""

    text: str
    finish_reason: str = "stop"


Reply = str | ScriptedReply | Callable[[Sequence[Message]], str | ScriptedReply]
"""One line of a script; a callable gets the messages so far."""


@dataclass(slots=True)
class ScriptedConversation:
    """A chat whose replies come from the policy's script. `tools` are those it was opened with."""

    script: "ScriptedPolicy"
    tools: tuple[Tool, ...]
    messages: list[Message] = field(default_factory=list)
    turns: int = 0

    async def sample(self) -> Turn:
        """The next reply of the script; LimitReached('turns') when it or the limit is used up."""
        reply = self.script.take(self.messages)
        turn = Turn(self.turns, reply.text, reply.finish_reason, len(reply.text.encode()), None)
        self.turns += 1
        self.messages.append({"role": "assistant", "content": reply.text})
        return turn

    def append(self, *messages: Message) -> None:
        """Add what the policy is told next."""
        self.messages.extend(messages)

    def annotate(self, *, content: str, tool_calls: Sequence[Mapping[str, Any]]) -> None:
        """Replace the last reply's readable form."""
        calls = {"tool_calls": [dict(call) for call in tool_calls]} if tool_calls else {}
        self.messages[-1] = {**self.messages[-1], "content": content, **calls}


class ScriptedPolicy:
    """Fits `raas_sdk.policy.Policy`. All conversations draw from one script, in the order of their calls.

    >>> policy = ScriptedPolicy(["```python\\n1+1\\n```", "```finish\\n2\\n```"])
    """

    def __init__(self, replies: Iterable[Reply], *, limits: Limits | None = None, tool_format: str = "plain") -> None:
        self.limits = Limits() if limits is None else limits
        self.tool_format = tool_format
        self.conversations: list[ScriptedConversation] = []
        self.turns = 0
        self._replies = iter(replies)

    def conversation(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> ScriptedConversation:
        """Start a chat; it is kept in `conversations` for the test to look at."""
        opened = ScriptedConversation(self, tuple(tools), list(messages))
        self.conversations.append(opened)
        return opened

    def take(self, messages: Sequence[Message]) -> ScriptedReply:
        """The next line of the script as a reply; raise LimitReached('turns') at its end."""
        line = next(self._replies, None) if self.turns < self.limits.max_turns else None
        if line is None:
            raise LimitReached("turns")
        self.turns += 1
        reply = line(tuple(messages)) if callable(line) else line
        return ScriptedReply(reply) if isinstance(reply, str) else reply
