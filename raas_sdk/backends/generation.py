"""One call to an inference server: what is asked, and what came back. Token ids both ways, never text."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from raas_sdk.errors import BadRequest

__all__ = ["FinishReason", "GenerateRequest", "Generation"]

FinishReason = Literal["stop", "length", "abort"]


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """A prompt of token ids and how to go on from it.

    `top_k` < 1, `top_p` 1 and `min_p` 0 mean no cut. `seed` None leaves the choice to the server. An id of
    `stop_token_ids` ends the reply and is part of it.
    """

    prompt_ids: "Sequence[int] | array[int]"
    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    seed: int | None = None
    stop_token_ids: tuple[int, ...] = ()
    request_id: str | None = None

    def __post_init__(self) -> None:
        if len(self.prompt_ids) == 0:
            raise BadRequest(f"prompt_ids is empty (request {self.request_id!r}); a prompt has at least one token")
        if self.max_tokens < 1:
            raise BadRequest(f"max_tokens must be at least 1, got {self.max_tokens!r} (request {self.request_id!r})")


@dataclass(frozen=True, slots=True)
class Generation:
    """A sampled reply: `token_ids` int32[n] and `logprobs` float32[n], NaN where the server gave none.

    `logprobs_mode` is "raw" (of the distribution at temperature 1 before any cut) or "processed" (of the one
    sampled from). `version_spans` is [(count, version)] over the reply where the wire tells it, version -1 for
    a label that is no number. `tries` counts the calls it took; `note` says what was out of the ordinary.
    """

    token_ids: "array[int]"
    logprobs: "array[float]"
    finish_reason: FinishReason
    request_id: str | None
    logprobs_mode: str
    version_spans: tuple[tuple[int, int], ...] | None = None
    note: str | None = None
    tries: int = 1
