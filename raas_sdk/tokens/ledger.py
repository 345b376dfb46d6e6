"""The token ledger of one conversation: what was sent and what was sampled, never what text would encode to."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from raas_sdk.errors import BackendContract
from raas_sdk.tokens.alignment import as_ids, as_logprobs, version_runs
from raas_sdk.trajectory import Segment, TurnSpan

__all__ = ["Ledger"]


@dataclass(slots=True)
class OpenSegment:
    """A segment that still grows at its end."""

    prompt_len: int
    token_ids: "array[int]" = field(default_factory=lambda: array("i"))
    loss_mask: "array[int]" = field(default_factory=lambda: array("B"))
    logprobs: "array[float]" = field(default_factory=lambda: array("f"))
    spans: list[TurnSpan] = field(default_factory=list)

    def extend(self, ids: "array[int]", logprobs: "array[float] | None") -> tuple[int, int]:
        """Append tokens, sampled if they have logprobs; return where they lie."""
        start = len(self.token_ids)
        self.token_ids.extend(ids)
        self.loss_mask.extend(array("B", [logprobs is not None]) * len(ids))
        self.logprobs.extend(array("f", [0.0]) * len(ids) if logprobs is None else logprobs)
        return start, len(self.token_ids)

    def frozen(self, logprobs_mode: str) -> Segment:
        """A copy that later appends do not change."""
        return Segment(
            token_ids=self.token_ids[:],
            prompt_len=self.prompt_len,
            loss_mask=self.loss_mask[:],
            logprobs=self.logprobs[:],
            logprobs_mode=logprobs_mode,
            versions=version_runs(self.spans),
            turns=tuple(self.spans),
        )


class Ledger:
    """Append-only record of a conversation as one or more segments.

    The last segment is open. A token that was sampled has mask 1 there and only there: when a segment ends,
    the next one repeats the history in its prompt with mask 0. Ids are checked against `vocab_size` where it
    is known. Not safe for use from several threads.
    """

    def __init__(self, logprobs_mode: str = "raw", *, vocab_size: int | None = None) -> None:
        self.logprobs_mode = logprobs_mode
        self.vocab_size = vocab_size
        self.turns = 0
        self.sampled_tokens = 0
        self.prompt_tokens_sent = 0
        self._segments: list[OpenSegment] = []
        self._last_sampled: int | None = None

    def start_segment(self, prompt_ids: Sequence[int], *, messages: int, message_index: int = 0) -> None:
        """Open a new segment whose prompt renders `messages` messages, the first at `message_index`."""
        if messages < 1:
            raise ValueError(f"a prompt renders at least one message, got messages={messages!r}")
        ids = as_ids(prompt_ids, vocab_size=self.vocab_size)
        segment = OpenSegment(prompt_len=len(ids))
        start, end = segment.extend(ids, None)
        segment.spans.append(TurnSpan(start, end, "prompt", message_index))
        self._segments.append(segment)

    def append_context(self, ids: Sequence[int], *, message_index: int, role: str) -> None:
        """Add tokens the policy did not sample (mask 0) as one span of messages from `message_index` on."""
        checked = as_ids(ids, vocab_size=self.vocab_size)
        segment = self._open(message_index)
        start, end = segment.extend(checked, None)
        segment.spans.append(TurnSpan(start, end, role, message_index))

    def append_sampled(  # noqa: PLR0913  (the fields of a span)
        self,
        ids: Sequence[int],
        logprobs: Sequence[float] | None,
        *,
        message_index: int,
        finish_reason: str,
        version: int | None = None,
        backend: str | None = None,
        request_id: str | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        mixed: bool = False,
        note: str | None = None,
    ) -> None:
        """Add what the policy sampled (mask 1); raise BackendContract if it can't be trained on.

        A logprob may be NaN only with a `note` that says why it is missing. Parts of one reply (a pause
        between two versions) are appended one by one under the same `message_index`.
        """
        checked = self._from_wire(ids)
        values = as_logprobs(logprobs, count=len(checked), may_miss=note is not None)
        segment = self._open(message_index)
        sent = len(segment.token_ids)
        start, end = segment.extend(checked, values)
        fields = (finish_reason, version, backend, request_id, seconds, seed, mixed, note)
        segment.spans.append(TurnSpan(start, end, "assistant", message_index, *fields))
        self._count(sent, end - start, message_index)

    def current_ids(self) -> "array[int]":
        """Exactly what to send next: every id of the open segment (a copy)."""
        return self._open().token_ids[:]

    def segments(self) -> tuple[Segment, ...]:
        """Everything recorded so far, as copies; callable at any time."""
        return tuple(segment.frozen(self.logprobs_mode) for segment in self._segments)

    def __len__(self) -> int:
        return len(self._segments[-1].token_ids) if self._segments else 0

    def _open(self, message_index: int | None = None) -> OpenSegment:
        if not self._segments:
            raise ValueError("the ledger has no open segment; call start_segment first")
        segment = self._segments[-1]
        last = segment.spans[-1].message_index
        if message_index is not None and message_index < last:
            raise ValueError(f"message {message_index} cannot follow message {last}: the ledger only appends")
        return segment

    def _from_wire(self, ids: Sequence[int]) -> "array[int]":
        try:
            return as_ids(ids, vocab_size=self.vocab_size)
        except ValueError as error:
            raise BackendContract(f"the backend's reply cannot be used: {error}") from error

    def _count(self, sent: int, sampled: int, message_index: int) -> None:
        same_reply = self._last_sampled == message_index
        self.turns += 0 if same_reply else 1
        self.sampled_tokens += sampled
        self.prompt_tokens_sent += sent
        self._last_sampled = message_index
