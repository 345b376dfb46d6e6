"""The whole thing with a real model: every token that comes out is held against the model's own log."""

import json
import math
from pathlib import Path

import pytest
from raas_runtime import Bubblewrap

from raas_sdk.backends.embedded import embedded_model, model_path
from raas_sdk.backends.recording_proxy import recording_proxy
from raas_sdk.errors import SettingsInvalid
from raas_sdk.gateway import admit, open_service
from raas_sdk.settings import load_settings

SAMPLES = 4
INSTANCE = {
    "data_source": "math",
    "instance_id": "difference",
    "prompt": [{"role": "user", "content": "What is the difference between 92 and 57?"}],
    "reward_model": {"ground_truth": "35"},
}


@pytest.fixture(autouse=True)
def needs_the_embedded_model():
    try:
        model_path()
    except SettingsInvalid as error:
        pytest.skip(str(error))


async def settings_for(address, tokenizer):
    probe = await Bubblewrap().probe()
    runtime = {} if probe.available else {"runtime": "local", "allow_unsafe_runtime": True}
    plugins = {"plugins": {"math": {"preload": []}}}
    return load_settings({"backend": (address,), "tokenizer": str(tokenizer), **runtime, **plugins})


def logged_calls(log: Path):
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    sampled = [call for call in calls if call["path"] == "/completion" and call["status"] == 200]
    return {(tuple(call["request"]["prompt"]), tuple(call["response"]["tokens"])) for call in sampled}


def turns_of(result):
    for segment in result.trajectory.segments:
        for span in segment.turns:
            if span.role == "assistant":
                yield segment, span


async def test_every_turn_is_exactly_what_the_model_was_sent_and_sampled(tmp_path):
    log = tmp_path / "calls.jsonl"
    async with embedded_model(slots=2) as model, recording_proxy(model.address, log) as address:
        settings = await settings_for(address, model.tokenizer)
        async with open_service(settings, coded=True) as gateway:
            sampling = {"temperature": 1.3, "max_turns": 3, "max_output_tokens": 32, "seed": 5}
            bodies = [{"instance": INSTANCE, "sampling_params": sampling, "sample_index": i} for i in range(SAMPLES)]
            results = [await gateway.submit(admit(body, settings)).done for body in bodies]
    calls = logged_calls(log)
    assert [result.outcome in ("scored", "model_limit") for result in results] == [True] * SAMPLES
    assert any(result.usage.tool_calls for result in results)
    for result in results:
        assert len(result.trajectory.segments) == 1
        for segment, span in turns_of(result):
            ids = segment.token_ids.tolist()
            assert (tuple(ids[: span.start]), tuple(ids[span.start : span.end])) in calls
            assert all(math.isfinite(value) for value in segment.logprobs[span.start : span.end]) or span.note
        sampled = sum(span.end - span.start for _, span in turns_of(result))
        assert result.trajectory.sampled_tokens == sampled == result.usage.sampled_tokens
        assert result.trainable
    assert len({result.trajectory.segments[0].token_ids.tobytes() for result in results}) > 1
