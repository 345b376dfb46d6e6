"""The two token routes of vLLM: `/inference/v1/generate`, and `/v1/completions` where the first is off.

vLLM's logprobs are "raw" by default; a server started with another --logprobs-mode does not tell it here.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from raas_sdk.backends.exchange import Reply, good_object, post
from raas_sdk.backends.generation import FinishReason, GenerateRequest, Generation
from raas_sdk.backends.logprobs import checked_ids, checked_logprobs
from raas_sdk.errors import BackendContract, BackendRefused

__all__ = ["VllmCompletionsWire", "VllmWire"]

REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "abort": "abort",
    "repetition": "stop",
}
SWITCHED_OFF = (403, 404, 405)


class VllmWire:
    """Prefers `/inference/v1/generate`; a server that has it switched off is asked by completions from then on."""

    name = "vllm"

    def __init__(self) -> None:
        self._completions = VllmCompletionsWire()
        self._switched_off: set[str] = set()

    async def generate(self, session: aiohttp.ClientSession, address: str, request: GenerateRequest) -> Generation:
        """Sample once; see `Wire.generate`."""
        if address in self._switched_off:
            return await self._completions.generate(session, address, request)
        reply = await post(session, f"{address}/inference/v1/generate", _generate_body(request))
        if reply.status in SWITCHED_OFF:
            return await self._by_completions(session, address, request, reply)
        answer = good_object(reply)
        choice = _only_choice(answer)
        content = (choice.get("logprobs") or {}).get("content")
        said = answer.get("request_id")
        return _generation(choice, content, request_id=said if isinstance(said, str) else request.request_id)

    async def _by_completions(
        self, session: aiohttp.ClientSession, address: str, request: GenerateRequest, refusal: Reply
    ) -> Generation:
        try:
            generation = await self._completions.generate(session, address, request)
        except BackendRefused as error:
            first = f"{refusal.route} answered HTTP {refusal.status}: {refusal.shown!r}"
            raise BackendRefused(f"{first}; then {error}") from error
        self._switched_off.add(address)
        return generation


class VllmCompletionsWire:
    """`POST /v1/completions` with a prompt of ids and `return_token_ids`."""

    name = "vllm_completions"

    async def generate(self, session: aiohttp.ClientSession, address: str, request: GenerateRequest) -> Generation:
        """Sample once; see `Wire.generate`."""
        answer = good_object(await post(session, f"{address}/v1/completions", _completions_body(request)))
        choice = _only_choice(answer)
        content = (choice.get("logprobs") or {}).get("token_logprobs")
        said = answer.get("id")
        return _generation(choice, content, request_id=said if isinstance(said, str) else request.request_id)


def _sampling(request: GenerateRequest) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": max(request.top_k, -1) or -1,
        "min_p": request.min_p,
        "stop_token_ids": list(request.stop_token_ids),
        "logprobs": 0,
    }
    return asked if request.seed is None else asked | {"seed": request.seed}


def _generate_body(request: GenerateRequest) -> dict[str, Any]:
    body = {"token_ids": list(request.prompt_ids), "sampling_params": _sampling(request), "stream": False}
    return body if request.request_id is None else body | {"request_id": request.request_id}


def _completions_body(request: GenerateRequest) -> dict[str, Any]:
    body = {"prompt": list(request.prompt_ids), "return_token_ids": True, "stream": False, **_sampling(request)}
    return body if request.request_id is None else body | {"request_id": request.request_id}


def _only_choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise BackendContract(f"'choices' must be a list of one choice, got {choices!r:.200}")
    choice = choices[0]
    if not isinstance(choice.get("logprobs"), Mapping | None):
        raise BackendContract(f"'choices[0].logprobs' must be an object, got {choice['logprobs']!r:.200}")
    return choice


def _generation(choice: Mapping[str, Any], content: Any, *, request_id: str | None) -> Generation:
    token_ids = checked_ids(choice.get("token_ids"), field="choices[0].token_ids")
    spans, note = _version_spans(choice.get("weight_versions"), token_ids)
    return Generation(
        token_ids=token_ids,
        logprobs=checked_logprobs(content, token_ids, field="choices[0].logprobs"),
        finish_reason=_finish_reason(choice.get("finish_reason")),
        request_id=request_id,
        logprobs_mode="raw",
        version_spans=spans,
        note=note,
    )


def _finish_reason(said: Any) -> FinishReason:
    if not isinstance(said, str) or said not in REASONS:
        raise BackendContract(f"finish_reason {said!r:.200} is none of {sorted(REASONS)!r}")
    return REASONS[said]


def _version_spans(given: Any, token_ids: "array[int]") -> tuple[tuple[tuple[int, int], ...] | None, str | None]:
    """Runs of (count, version). Labels are free text: one that is no number becomes -1 and is named in a note."""
    if not given or not token_ids:
        return None, None
    runs = _runs(given, len(token_ids))
    labels = [label for _, label in runs]
    if all(_is_number(label) for label in labels):
        return tuple((count, int(label)) for count, label in runs), None
    if len(labels) == 1:
        return None, None
    note = f"the weights changed during the reply: {labels!r:.300}"
    return tuple((count, int(label) if _is_number(label) else -1) for count, label in runs), note


def _is_number(label: str) -> bool:
    return label.isascii() and label.isdecimal() and len(label) < 10


def _runs(given: Any, count: int) -> Sequence[tuple[int, str]]:
    try:
        spans = [(int(span["start"]), int(span["end"]), str(span["version"])) for span in given]
    except (TypeError, KeyError, ValueError) as error:
        raise BackendContract(f"'weight_versions' cannot be read: {given!r:.200}") from error
    borders = [0, *(end for _, end, _ in spans)]
    if [start for start, _, _ in spans] != borders[:-1] or borders[-1] != count:
        raise BackendContract(f"'weight_versions' does not cover the {count} sampled tokens: {given!r:.200}")
    return [(end - start, version) for start, end, version in spans if end > start]
