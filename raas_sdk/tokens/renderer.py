"""How messages become token ids for one model family: the protocol every renderer fits."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from raas_sdk.policy import Message
from raas_sdk.workspace import Tool

__all__ = ["Renderer"]


@runtime_checkable
class Renderer(Protocol):
    """Renders prompts and bridges; never encodes a sampled reply again."""

    @property
    def name(self) -> str:
        """What it renders with: the tokenizer's source."""

    @property
    def vocab_size(self) -> int:
        """One more than the highest token id."""

    @property
    def tool_format(self) -> str:
        """'hermes' if the chat template itself shows tools with <tool_call>, else 'plain'."""

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        """Ids at which the backend should stop: end of turn first, then end of text."""

    def with_thinking(self, *, enabled: bool | None) -> "Renderer":
        """The same renderer with the template's thinking switch set (None: the template's default)."""

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """The whole chat up to where the next reply starts."""

    def bridge(
        self, history: Sequence[Message], new: Sequence[Message], tools: Sequence[Tool], *, closed: bool
    ) -> list[int] | None:
        """Ids between the sampled reply that ends `history` and the next reply, or None.

        `closed` says that the reply ended with the end-of-turn token; if not, the bridge starts with it. None
        means that the template would change what came before: start a new segment with `prompt`.
        """

    def encode(self, text: str) -> list[int]:
        """Ids of trusted text, special tokens recognised: for scripted replies, never for sampled ones."""

    def decode(self, ids: Iterable[int]) -> str:
        """Readable text, special tokens kept."""

    def turn_text(self, ids: Sequence[int]) -> str:
        """A sampled reply as text, without the stop token that ends it.

        Where the prompt had opened a think block for the reply, the text starts with that tag.
        """

    def is_closed(self, ids: Sequence[int]) -> bool:
        """Whether a sampled reply ended with the end-of-turn token."""
