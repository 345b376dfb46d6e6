"""Connections are kept, and a cancelled call gives its own back at once."""

import asyncio

import pytest

from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.testing.fake_backend import FakeBackend


async def test_turns_of_a_job_share_one_connection(wire: str, client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend(wire) as backend:
        for _ in range(20):
            await client.generate(BackendTarget(backend.address, wire), asked)
        assert (backend.requests, backend.connections) == (20, 1)


async def test_a_refusal_keeps_the_connection(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("prorl") as backend:
        backend.faults.fail_next(2, status=503)
        await client.generate(BackendTarget(backend.address, "prorl"), asked)
        assert (backend.requests, backend.connections) == (3, 1)


async def test_a_cancelled_call_closes_its_connection_so_that_the_server_stops(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.always = "hang"
        sampling = asyncio.create_task(client.generate(BackendTarget(backend.address, wire), asked))
        await backend.wait_requests(1)
        sampling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sampling
        await backend.wait_disconnects(1)
        assert backend.requests == 1


async def test_a_call_cancelled_between_tries_makes_no_more(asked: GenerateRequest) -> None:
    backoff = Backoff(first_seconds=30.0, longest_seconds=30.0, give_up_seconds=1000.0)
    async with FakeBackend("vllm") as backend, BackendClient(backoff=backoff) as client:
        backend.faults.always = "status"
        sampling = asyncio.create_task(client.generate(BackendTarget(backend.address, "vllm"), asked))
        await backend.wait_requests(1)
        sampling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sampling
        assert backend.requests == 1


async def test_one_broken_connection_costs_no_other_job(client: BackendClient) -> None:
    async with FakeBackend("vllm", script=lambda prompt: [*prompt, 2]) as backend:
        backend.faults.fail_next(1, "cut")
        target = BackendTarget(backend.address, "vllm")
        requests = [GenerateRequest([job], 8, stop_token_ids=(2,)) for job in range(10, 18)]
        generations = await asyncio.gather(*(client.generate(target, request) for request in requests))
    assert [list(generation.token_ids) for generation in generations] == [[job, 2] for job in range(10, 18)]
    assert sorted(generation.tries for generation in generations) == [1] * 7 + [2]


async def test_a_server_that_was_restarted_is_reached_again(client: BackendClient, asked: GenerateRequest) -> None:
    backend = FakeBackend("vllm")
    await backend.start()
    target = BackendTarget(backend.address, "vllm")
    await client.generate(target, asked)
    await backend.stop()
    await backend.start(int(target.address.rsplit(":", 1)[1]))
    generation = await client.generate(target, asked)
    await backend.stop()
    assert list(generation.token_ids) == [7, 8, 2]


async def test_a_client_that_is_not_open_says_so(asked: GenerateRequest) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await BackendClient().generate(BackendTarget("http://127.0.0.1:9", "vllm"), asked)
