"""What a fake backend can do wrong, switchable while it runs."""

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Fault", "FaultKind", "Faults"]

FaultKind = Literal[
    "abort",  # finish reason abort and only part of the reply
    "context",  # the wire's own answer to a prompt that is too long
    "cut",  # the connection breaks in the middle of the body
    "empty",  # 200 with an empty body
    "endless",  # a body that never ends
    "error_object",  # 200 with an error object
    "gap",  # no logprob for a token in the middle: left out on the llama.cpp wire, null on others
    "half_json",  # 200 with JSON that stops half-way
    "hang",  # never answers
    "html",  # 200 with a web page
    "infinite_logprobs",  # minus infinity, as Python writes it
    "nan_logprobs",  # NaN, as Python writes it
    "no_ids",  # text, but no token ids
    "no_logprobs",  # null in their place
    "no_stop",  # the stop token is left out of the ids
    "other_shape",  # JSON of another shape
    "positive_logprobs",  # above zero
    "short_logprobs",  # one fewer than tokens
    "status",  # an HTTP status
    "swap",  # the weights change in the middle of the reply (told on the vllm wire only)
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `status`, `text` and `retry_after` belong to the kind "status"."""

    kind: FaultKind
    status: int = 500
    text: str = "the fake was told to fail"
    retry_after: str | None = None


@dataclass(slots=True)
class Faults:
    """Faults to come: the queued ones first, then `always`. `fired` counts what happened, by kind.

    Every answer takes `latency_seconds`, give or take `jitter_seconds`. `probes_status`, where set, is what
    all GET routes answer: 503 is a server that still loads.
    """

    always: Fault | FaultKind | None = None
    latency_seconds: float = 0.0
    jitter_seconds: float = 0.0
    probes_status: int | None = None
    queued: "deque[Fault | None]" = field(default_factory=deque)
    fired: "Counter[str]" = field(default_factory=Counter)

    def fail_next(self, count: int = 1, fault: Fault | FaultKind = "status", *, status: int = 500) -> None:
        """Queue a fault for the next calls; `status` is for the plain form of the kind "status"."""
        found = Fault(fault, status=status) if isinstance(fault, str) else fault
        self.queued.extend([found] * count)

    def pass_next(self, count: int = 1) -> None:
        """Queue good answers, to have faults come later."""
        self.queued.extend([None] * count)

    def take(self) -> Fault | None:
        """The fault of the call that just came, counted; None for a good answer."""
        standing = Fault(self.always) if isinstance(self.always, str) else self.always
        fault = self.queued.popleft() if self.queued else standing
        if fault is not None:
            self.fired[fault.kind] += 1
        return fault
