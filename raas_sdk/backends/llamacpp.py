"""The wire of llama.cpp's server: `POST /completion` with a prompt of ids.

Left to its defaults it cuts the distribution (top_k 40, top_p .95, min_p .05), so the samplers are named: the
temperature and what the request asks for, nothing else. Logprobs are "raw", whatever the samplers do. It ends
a reply at the model's own end tokens; it has no stops by id, and a stop by string would drop tokens. Answers
are not streamed, since a stream loses the ids of tokens inside a UTF-8 character. The build in xllamacpp does
not notice a client that leaves such a call, so a cancelled one occupies its slot up to max_tokens.
"""

from typing import Any

import aiohttp

from raas_sdk.backends.exchange import good_object, post
from raas_sdk.backends.generation import FinishReason, GenerateRequest, Generation
from raas_sdk.backends.llamacpp_logprobs import aligned_logprobs
from raas_sdk.backends.llamacpp_recovery import recover_logprobs
from raas_sdk.backends.logprobs import checked_ids
from raas_sdk.backends.wire import overrun_note
from raas_sdk.errors import BackendContract

__all__ = ["LlamacppWire"]

REASONS: dict[str, FinishReason] = {"eos": "stop", "word": "stop", "limit": "length", "none": "abort"}

FIELDS = ("tokens", "completion_probabilities", "stop_type", "tokens_evaluated", "truncated", "error")
"""What the answer is asked to hold; left to itself it repeats the whole prompt as text every turn."""


class LlamacppWire:
    """llama.cpp and what embeds it. Probabilities that it leaves out are asked for again, else NaN and noted."""

    name = "llamacpp"

    async def generate(self, session: aiohttp.ClientSession, address: str, request: GenerateRequest) -> Generation:
        """Sample once; see `Wire.generate`."""
        answer = good_object(await post(session, f"{address}/completion", body_of(request)))
        _check_prompt(answer, len(request.prompt_ids))
        token_ids = checked_ids(answer.get("tokens"), field="tokens")
        logprobs = aligned_logprobs(answer.get("completion_probabilities"), token_ids)
        gap = await recover_logprobs(session, address, request=request, token_ids=token_ids, logprobs=logprobs)
        full = "the reply filled the server's context" if answer.get("truncated") is True else None
        notes = [gap, full, overrun_note(token_ids, request.stop_token_ids)]
        return Generation(
            token_ids=token_ids,
            logprobs=logprobs,
            finish_reason=_finish_reason(answer),
            request_id=request.request_id,
            logprobs_mode="raw",
            note="; ".join(note for note in notes if note) or None,
        )


def body_of(request: GenerateRequest) -> dict[str, Any]:
    """The request in llama.cpp's words. The cuts come after the temperature, as in vLLM."""
    cuts = {
        "min_p": request.min_p if request.min_p > 0 else None,
        "top_k": request.top_k if request.top_k > 0 else None,
        "top_p": request.top_p if request.top_p < 1 else None,
        "seed": request.seed,
    }
    asked = {name: value for name, value in cuts.items() if value is not None}
    return {
        "prompt": list(request.prompt_ids),
        "n_predict": request.max_tokens,
        "temperature": request.temperature,
        "samplers": ["temperature", *(name for name in asked if name != "seed")],
        "n_probs": 1,
        "return_tokens": True,
        "cache_prompt": True,
        "stream": False,
        "response_fields": FIELDS,
        **asked,
    }


def _finish_reason(answer: dict[str, Any]) -> FinishReason:
    said = answer.get("stop_type")
    if not isinstance(said, str) or said not in REASONS:
        raise BackendContract(f"'stop_type' {said!r:.200} is none of {sorted(REASONS)!r}")
    return REASONS[said]


def _check_prompt(answer: dict[str, Any], sent: int) -> None:
    """The server may cut a prompt that is too long; what it samples then belongs to another prompt."""
    seen = answer.get("tokens_evaluated")
    if isinstance(seen, int) and seen != sent:
        raise BackendContract(f"the server read {seen} prompt tokens of the {sent} that were sent")
