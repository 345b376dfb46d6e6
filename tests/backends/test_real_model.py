"""The llama.cpp wire against a real model: what comes back is what the model computed."""

import asyncio
import math
from array import array
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.embedded import EmbeddedModel, embedded_model, model_path
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.llamacpp_recovery import recover_logprobs
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import LimitReached, SettingsInvalid

ROUNDING = 1e-5
"""A few units in the last place of a float32 logprob."""


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[EmbeddedModel]:
    try:
        model_path()
    except SettingsInvalid as error:
        pytest.skip(f"no embedded model: {error}")
    async with embedded_model(slots=4, context_tokens=512, threads=1) as model:
        yield model


@pytest_asyncio.fixture(loop_scope="module")
async def client() -> AsyncIterator[BackendClient]:
    async with BackendClient() as client:
        yield client


async def prompt_ids(session: aiohttp.ClientSession, model: EmbeddedModel, text: str) -> list[int]:
    content = f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    body = {"content": content, "parse_special": True}
    async with session.post(f"{model.address}/tokenize", json=body) as response:
        tokens: list[int] = (await response.json())["tokens"]
        return tokens


async def test_every_sampled_token_of_a_real_model_gets_its_own_logprob(
    model: EmbeddedModel, client: BackendClient
) -> None:
    target = BackendTarget(model.address)
    async with aiohttp.ClientSession() as session:
        ids = await prompt_ids(session, model, "Write a line in Chinese with many emoji.")
        requests = [GenerateRequest(ids, 16, seed=seed) for seed in range(2)]
        replies = await asyncio.gather(*(client.generate(target, request) for request in requests))
        healed = [reply for reply in replies if reply.note is not None]
        assert healed, "none of these replies holds a token inside a UTF-8 character"
        for request, reply in zip(requests, replies, strict=True):
            assert len(reply.logprobs) == len(reply.token_ids)
            assert all(math.isfinite(value) and value <= 0 for value in reply.logprobs)
            again = array("f", [*reply.logprobs[:-2], math.nan, math.nan])
            await recover_logprobs(session, model.address, request=request, token_ids=reply.token_ids, logprobs=again)
            assert again.tolist() == pytest.approx(reply.logprobs.tolist(), abs=ROUNDING)


async def test_a_prompt_longer_than_a_real_servers_context_is_a_limit(
    model: EmbeddedModel, client: BackendClient
) -> None:
    with pytest.raises(LimitReached) as caught:
        await client.generate(BackendTarget(model.address), GenerateRequest([5] * 600, 4))
    assert caught.value.reason == "context"
