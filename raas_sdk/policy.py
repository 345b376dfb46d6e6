"""The model as a plugin sees it: conversations that are sampled turn by turn, never token ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from raas_sdk.limits import Limits
from raas_sdk.workspace import Tool

__all__ = ["Conversation", "Message", "Policy", "Turn"]

Message = Mapping[str, Any]
"""A chat message: `role`, `content` and, where it applies, `tool_calls`, `name`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One sampled reply. `text` keeps special tokens but not the end-of-turn token itself."""

    index: int
    text: str
    finish_reason: str
    n_tokens: int
    policy_version: int | None


class Conversation(Protocol):
    """One chat with the policy; it becomes one or more segments of the trajectory."""

    @property
    def messages(self) -> Sequence[Message]: ...

    async def sample(self) -> Turn:
        """Sample the next reply; raise LimitReached when a limit is used up, or a BackendFault."""

    def append(self, *messages: Message) -> None:
        """Add what the policy is told next (tool results, user messages)."""

    def annotate(self, *, content: str, tool_calls: Sequence[Mapping[str, Any]]) -> None:
        """Say how the last reply was parsed; changes the readable messages, never the tokens."""


class Policy(Protocol):
    """Where a plugin's run gets its replies from."""

    @property
    def limits(self) -> Limits: ...

    @property
    def tool_format(self) -> str:
        """How this model writes tool calls: 'hermes' or, for models without tool training, 'plain'."""

    def conversation(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Conversation:
        """Start a chat; `tools` are shown to the model where its chat template can show them."""
