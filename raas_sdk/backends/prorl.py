"""The wire of ProRL Agent's own model servers: `POST <address>/generate`, prompt_ids in, response_ids out."""

from array import array
from typing import Any

import aiohttp

from raas_sdk.backends.exchange import good_object, post
from raas_sdk.backends.generation import FinishReason, GenerateRequest, Generation
from raas_sdk.backends.logprobs import checked_ids, checked_logprobs
from raas_sdk.backends.wire import overrun_note
from raas_sdk.errors import BackendContract

__all__ = ["ProrlWire"]

REASONS: tuple[FinishReason, ...] = ("stop", "length", "abort")


class ProrlWire:
    """Upstream's token route. Its logprobs are of the distribution sampled from ("processed")."""

    name = "prorl"

    async def generate(self, session: aiohttp.ClientSession, address: str, request: GenerateRequest) -> Generation:
        """Sample once; see `Wire.generate`."""
        answer = good_object(await post(session, f"{address}/generate", body_of(request)))
        token_ids = checked_ids(answer.get("response_ids"), field="response_ids")
        return Generation(
            token_ids=token_ids,
            logprobs=checked_logprobs(answer.get("logprobs"), token_ids, field="logprobs"),
            finish_reason=_finish_reason(answer, token_ids, request),
            request_id=request.request_id,
            logprobs_mode="processed",
            note=overrun_note(token_ids, request.stop_token_ids),
        )


def body_of(request: GenerateRequest) -> dict[str, Any]:
    """Upstream's fields; those it does not know are sent only when they were asked for."""
    body: dict[str, Any] = {
        "prompt_ids": list(request.prompt_ids),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "skip_special_tokens": False,
    }
    asked = {"top_k": request.top_k > 0, "min_p": request.min_p > 0, "seed": request.seed is not None}
    body |= {name: getattr(request, name) for name, wanted in asked.items() if wanted}
    if request.stop_token_ids:
        body["stop_token_ids"] = list(request.stop_token_ids)
    return body


def _finish_reason(answer: dict[str, Any], token_ids: "array[int]", request: GenerateRequest) -> FinishReason:
    """What the server says where it says it; upstream's does not, so the ids decide."""
    said = answer.get("finish_reason")
    if said is not None:
        if said not in REASONS:
            raise BackendContract(f"finish_reason {said!r:.200} is none of {REASONS!r}")
        return REASONS[REASONS.index(said)]
    ended = bool(token_ids) and token_ids[-1] in request.stop_token_ids
    return "length" if len(token_ids) >= request.max_tokens and not ended else "stop"
