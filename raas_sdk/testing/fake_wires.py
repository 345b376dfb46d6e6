"""The bodies that a fake backend reads and writes on the ProRL and vLLM wires."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

__all__ = ["Asked", "FakeCall", "FakeProrl", "FakeVllm", "FakeVllmCompletions", "FakeWire", "asked_in", "entries"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for, whatever the wire."""

    prompt_ids: tuple[int, ...]
    max_tokens: int
    stop_token_ids: tuple[int, ...]
    request_id: str | None
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FakeCall:
    """A call that was answered, as the fake saw it. `params` is the request's whole body."""

    prompt_ids: tuple[int, ...]
    params: Mapping[str, Any]
    response_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str
    request_id: str | None = None


class FakeWire(Protocol):
    """One wire: its routes, and how requests and answers look."""

    route: ClassVar[str]

    def asked(self, body: Mapping[str, Any]) -> Asked:
        """Read a request; raise KeyError or TypeError if it does not fit the wire."""

    def answer(self, call: FakeCall, logprobs: "Sequence[Any] | None") -> dict[str, Any]:
        """The body for a reply; `logprobs` is what to send, faults included."""

    def too_long(self, asked: Asked, context: int) -> dict[str, Any]:
        """The body of a 400 for a prompt longer than the context."""

    def probes(self) -> dict[str, Any]:
        """GET routes that tell which server this is, with their bodies."""

    def aside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The body for a POST that does not sample a reply; None if it does."""


class FakeProrl:
    """ProRL Agent's own model server."""

    route: ClassVar[str] = "/generate"

    def asked(self, body: Mapping[str, Any]) -> Asked:
        return asked_in(body, body, prompt="prompt_ids", limit="max_tokens")

    def answer(self, call: FakeCall, logprobs: "Sequence[Any] | None") -> dict[str, Any]:
        return {"response_ids": list(call.response_ids), "logprobs": logprobs}

    def too_long(self, asked: Asked, context: int) -> dict[str, Any]:
        return {"detail": f"The prompt (length {len(asked.prompt_ids)}) exceeds the maximum model length {context}"}

    def probes(self) -> dict[str, Any]:
        return {}

    def aside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        return None


class FakeVllm:
    """vLLM with its token route switched on."""

    route: ClassVar[str] = "/inference/v1/generate"

    def asked(self, body: Mapping[str, Any]) -> Asked:
        return asked_in(body, body["sampling_params"], prompt="token_ids", limit="max_tokens")

    def answer(self, call: FakeCall, logprobs: "Sequence[Any] | None") -> dict[str, Any]:
        choice = _choice(call)
        choice["logprobs"] = None if logprobs is None else {"content": entries(call, logprobs, key="token_id")}
        return {"request_id": f"generate-tokens-{call.request_id}", "choices": [choice]}

    def too_long(self, asked: Asked, context: int) -> dict[str, Any]:
        text = f"This model's maximum context length is {context} tokens, not {len(asked.prompt_ids)}."
        return {"error": {"message": text, "type": "BadRequestError", "param": None, "code": 400}}

    def probes(self) -> dict[str, Any]:
        return {"/version": {"version": "0.32.0"}, "/openapi.json": {"paths": {self.route: {"post": {}}}}}

    def aside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        return None


class FakeVllmCompletions(FakeVllm):
    """vLLM without the token route: completions with ids."""

    route: ClassVar[str] = "/v1/completions"

    def asked(self, body: Mapping[str, Any]) -> Asked:
        return asked_in(body, body, prompt="prompt", limit="max_tokens")

    def answer(self, call: FakeCall, logprobs: "Sequence[Any] | None") -> dict[str, Any]:
        choice = _choice(call)
        tokens = [f"token_id:{token}" for token in call.response_ids]
        choice["logprobs"] = None if logprobs is None else {"tokens": tokens, "token_logprobs": logprobs}
        return {"id": f"cmpl-{call.request_id}", "object": "text_completion", "choices": [choice]}


def asked_in(body: Mapping[str, Any], sampling: Mapping[str, Any], *, prompt: str, limit: str) -> Asked:
    """What a body asks for, by the names that its wire gives to the prompt and the limit."""
    return Asked(
        prompt_ids=tuple(int(token) for token in body[prompt]),
        max_tokens=int(sampling[limit]),
        stop_token_ids=tuple(sampling.get("stop_token_ids") or ()),
        request_id=body.get("request_id"),
        params=body,
    )


def _choice(call: FakeCall) -> dict[str, Any]:
    return {"index": 0, "token_ids": list(call.response_ids), "finish_reason": call.finish_reason}


def entries(call: FakeCall, logprobs: Sequence[Any], *, key: str) -> list[dict[str, Any]]:
    """One object per token that has a logprob to send."""
    pairs = zip(call.response_ids, logprobs, strict=False)
    return [{key: token, "logprob": value, "top_logprobs": []} for token, value in pairs]
