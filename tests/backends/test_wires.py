"""Every wire against a real server that speaks it, for good answers and for each kind of bad one."""

import asyncio

import pytest

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BackendContract, BackendRefused, BadRequest, LimitReached
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.testing.faults import Fault, FaultKind

GARBAGE: list[FaultKind] = ["html", "empty", "half_json", "other_shape", "error_object", "no_ids"]
SPOILED: list[FaultKind] = ["nan_logprobs", "infinite_logprobs", "positive_logprobs"]


async def test_a_good_answer_is_returned_as_it_was_sampled(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire, script=[[20, 21, 2]], end_ids=[2]) as backend:
        generation = await client.generate(BackendTarget(backend.address, wire), asked)
        call = backend.calls[0]
    assert (generation.token_ids.typecode, generation.logprobs.typecode) == ("i", "f")
    assert tuple(generation.token_ids) == call.response_ids == (20, 21, 2)
    assert tuple(generation.logprobs) == call.logprobs
    assert (generation.finish_reason, generation.tries, generation.note) == ("stop", 1, None)
    assert call.prompt_ids == (1, 10, 11)


async def test_a_reply_that_hits_the_token_limit_gets_no_end_token(wire: str, client: BackendClient) -> None:
    async with FakeBackend(wire, script=[[20, 21, 22, 23]]) as backend:
        request = GenerateRequest([1], 3, stop_token_ids=(2,))
        generation = await client.generate(BackendTarget(backend.address, wire), request)
    assert (list(generation.token_ids), generation.finish_reason) == ([20, 21, 22], "length")


async def test_an_empty_reply_is_zero_tokens(wire: str, client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend(wire, script=[[]]) as backend:
        generation = await client.generate(BackendTarget(backend.address, wire), asked)
    assert (len(generation.token_ids), len(generation.logprobs), generation.finish_reason) == (0, 0, "stop")


async def test_a_stop_token_that_the_server_left_out_is_not_added(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire, script=[[20, 21, 2]], end_ids=[2]) as backend:
        backend.faults.fail_next(1, "no_stop")
        generation = await client.generate(BackendTarget(backend.address, wire), asked)
    assert (list(generation.token_ids), generation.finish_reason) == ([20, 21], "stop")
    assert len(generation.logprobs) == 2


@pytest.mark.parametrize("fault", GARBAGE)
async def test_garbage_is_a_broken_contract_that_shows_how_it_began(
    wire: str, client: BackendClient, asked: GenerateRequest, fault: FaultKind
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(1, fault)
        with pytest.raises(BackendContract) as caught:
            await client.generate(BackendTarget(backend.address, wire), asked)
        assert backend.address in str(caught.value)
        assert backend.requests == 1
        if fault == "html":
            assert "<html><body>502" in str(caught.value)
        again = await client.generate(BackendTarget(backend.address, wire), asked)
    assert len(again.token_ids) > 0


@pytest.mark.parametrize("fault", SPOILED)
async def test_an_impossible_logprob_is_a_broken_contract(
    wire: str, client: BackendClient, asked: GenerateRequest, fault: FaultKind
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(1, fault)
        with pytest.raises(BackendContract):
            await client.generate(BackendTarget(backend.address, wire), asked)


@pytest.mark.parametrize("fault", ["no_logprobs", "short_logprobs", "gap"])
@pytest.mark.parametrize("wire", ["prorl", "vllm", "vllm_completions"])
async def test_missing_logprobs_are_a_broken_contract(
    wire: str, client: BackendClient, asked: GenerateRequest, fault: FaultKind
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(1, fault)
        with pytest.raises(BackendContract, match="logprobs"):
            await client.generate(BackendTarget(backend.address, wire), asked)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
async def test_a_refusal_is_final_and_carries_status_and_text(
    wire: str, client: BackendClient, asked: GenerateRequest, status: int
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.always = Fault("status", status=status, text="wrong key")
        with pytest.raises(BackendRefused) as caught:
            await client.generate(BackendTarget(backend.address, wire), asked)
        assert backend.requests == 1
    told = str(caught.value)
    assert str(status) in told and "wrong key" in told


async def test_a_prompt_too_long_for_the_model_is_a_limit_and_not_retried(wire: str, client: BackendClient) -> None:
    async with FakeBackend(wire, context=4) as backend:
        with pytest.raises(LimitReached) as caught:
            await client.generate(BackendTarget(backend.address, wire), GenerateRequest([1, 2, 3, 4], 8))
        assert backend.requests == 1
    assert caught.value.reason == "context"
    assert isinstance(caught.value.__cause__, BackendRefused)


async def test_an_endless_body_is_cut_off(wire: str, client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(1, "endless")
        with pytest.raises(BackendContract, match="larger than"):
            await client.generate(BackendTarget(backend.address, wire), asked)
        await backend.wait_disconnects(1)


async def test_an_aborted_reply_keeps_its_lengths(client: BackendClient, asked: GenerateRequest) -> None:
    for wire in ("vllm", "vllm_completions", "llamacpp"):
        async with FakeBackend(wire, script=[[20, 21, 22, 23]]) as backend:
            backend.faults.fail_next(1, "abort")
            generation = await client.generate(BackendTarget(backend.address, wire), asked)
        assert (generation.finish_reason, len(generation.token_ids), len(generation.logprobs)) == ("abort", 2, 2)


async def test_an_unknown_wire_is_refused_by_name(client: BackendClient, asked: GenerateRequest) -> None:
    with pytest.raises(BadRequest, match="'telegraph'"):
        await client.generate(BackendTarget("http://127.0.0.1:9", "telegraph"), asked)


@pytest.mark.parametrize(("prompt", "limit"), [([], 4), ([1], 0)])
def test_a_request_that_cannot_be_sampled_is_refused(prompt: list[int], limit: int) -> None:
    with pytest.raises(BadRequest):
        GenerateRequest(prompt, limit)


async def test_jobs_at_once_never_see_each_others_tokens(wire: str, client: BackendClient) -> None:
    async with FakeBackend(wire, script=lambda prompt: [prompt[-1] + 1000, 2], end_ids=[2]) as backend:
        target = BackendTarget(backend.address, wire)
        requests = [GenerateRequest([1, job], 4) for job in range(64)]
        generations = await asyncio.gather(*(client.generate(target, request) for request in requests))
        by_prompt = {call.prompt_ids: call.logprobs for call in backend.calls}
    for job, generation in enumerate(generations):
        assert list(generation.token_ids) == [job + 1000, 2]
        assert tuple(generation.logprobs) == by_prompt[(1, job)]
