"""The bodies that a fake backend reads and writes on the llama.cpp wire."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from raas_sdk.testing.fake_wires import Asked, FakeCall, asked_in, entries

__all__ = ["FakeLlamacpp"]

SHIFT = 1 / 1024
"""A wide distribution is normalised a little differently from a single value, as there."""
UNLIKELY = -2.0
"""Below this a token is told only to those who ask for the whole vocabulary."""


class FakeLlamacpp:
    """llama.cpp's server. As there, the end of a reply is the model's business, not the request's.

    A logprob that it left out can be asked for again, by the prefix and a forced token.
    """

    route: ClassVar[str] = "/completion"

    def __init__(self) -> None:
        self._left_out: dict[tuple[int, ...], tuple[int, float]] = {}

    def asked(self, body: Mapping[str, Any]) -> Asked:
        return asked_in(body, body, prompt="prompt", limit="n_predict")

    def answer(self, call: FakeCall, logprobs: "Sequence[Any] | None") -> dict[str, Any]:
        given = [*(logprobs or []), *[None] * len(call.logprobs)][: len(call.logprobs)]
        self._leave_out(call, given)
        body = {
            "content": "",
            "tokens": list(call.response_ids),
            "completion_probabilities": [e for e in entries(call, given, key="id") if e["logprob"] is not None],
            "stop_type": {"stop": "eos", "length": "limit", "abort": "none"}[call.finish_reason],
            "tokens_evaluated": len(call.prompt_ids),
            "tokens_predicted": len(call.response_ids),
            "truncated": False,
        }
        if not body["completion_probabilities"]:
            del body["completion_probabilities"]
        return _chosen(body, call.params)

    def too_long(self, asked: Asked, context: int) -> dict[str, Any]:
        text = f"request ({len(asked.prompt_ids)} tokens) exceeds the available context size ({context} tokens)"
        return {"error": {"code": 400, "message": text, "type": "exceed_context_size_error"}}

    def probes(self) -> dict[str, Any]:
        return {"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}}

    def aside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        if path == "/tokenize":
            return {"tokens": list(str(body["content"]).encode())}
        if path != self.route or "logit_bias" not in body:
            return None
        width, letter = body["n_probs"], body["logit_bias"][0][0]
        shift = SHIFT if width > 1 else 0.0
        token, value = self._left_out.get(tuple(body["prompt"]), (0, 0.0))
        told = width > 1000 or (width > 1 and value > UNLIKELY)
        top = [{"id": token, "logprob": value + shift}] if told else []
        forced = {"id": letter, "logprob": shift - 12.0, "top_logprobs": top}
        return _chosen({"completion_probabilities": [forced]}, body)

    def _leave_out(self, call: FakeCall, given: Sequence[Any]) -> None:
        for place, (token, value) in enumerate(zip(call.response_ids, call.logprobs, strict=True)):
            if given[place] is None:
                self._left_out[call.prompt_ids + call.response_ids[:place]] = (token, value)


def _chosen(body: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    wanted = params.get("response_fields", body)
    return {name: value for name, value in body.items() if name in wanted}
