"""What is tried again, how often, and what is said of it."""

import asyncio
import socket
from random import Random

import pytest

from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BackendUnreachable
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.testing.faults import Fault


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_passing_fault_is_tried_again_and_told(
    wire: str, client: BackendClient, asked: GenerateRequest, status: int
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(2, status=status)
        generation = await client.generate(BackendTarget(backend.address, wire), asked)
        assert (backend.requests, generation.tries) == (3, 3)
        assert tuple(generation.logprobs) == backend.calls[0].logprobs
    assert generation.note is not None and f"HTTP {status}" in generation.note


async def test_a_connection_cut_in_the_middle_is_tried_again(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.fail_next(1, "cut")
        generation = await client.generate(BackendTarget(backend.address, wire), asked)
        assert (generation.tries, backend.faults.fired["cut"]) == (2, 1)


async def test_a_backend_that_fails_for_ever_is_given_up_with_its_last_fault(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire) as backend:
        backend.faults.always = "status"
        with pytest.raises(BackendUnreachable) as caught:
            await client.generate(BackendTarget(backend.address, wire), asked)
        assert backend.requests == 4
        told = str(caught.value)
        assert backend.address in told and "4 tries" in told and "HTTP 500" in told


async def test_an_address_where_nothing_listens_is_given_up(
    client: BackendClient, asked: GenerateRequest, unused_address: str
) -> None:
    with pytest.raises(BackendUnreachable, match="4 tries"):
        await client.generate(BackendTarget(unused_address, "vllm"), asked)


async def test_an_unprobed_address_where_nothing_listens_is_given_up(
    client: BackendClient, asked: GenerateRequest, unused_address: str
) -> None:
    with pytest.raises(BackendUnreachable, match="4 tries"):
        await client.generate(BackendTarget(unused_address), asked)


async def test_a_server_that_comes_up_in_time_is_reached(asked: GenerateRequest) -> None:
    backend = FakeBackend("vllm")
    async with BackendClient(backoff=Backoff(max_attempts=1000, first_seconds=0.01, longest_seconds=0.01)) as client:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
            target = BackendTarget(f"http://127.0.0.1:{port}")
            sampling = asyncio.create_task(client.generate(target, asked))
            await asyncio.sleep(0)
        await backend.start(port)
        generation = await sampling
        await backend.stop()
    assert list(generation.token_ids) == [7, 8, 2]


async def test_a_silent_server_is_given_up_after_the_time_of_a_call(wire: str, asked: GenerateRequest) -> None:
    backoff = Backoff(max_attempts=2, first_seconds=0.001)
    async with FakeBackend(wire) as backend, BackendClient(backoff=backoff, call_seconds=0.1) as client:
        backend.faults.always = "hang"
        with pytest.raises(BackendUnreachable, match="2 tries"):
            await client.generate(BackendTarget(backend.address, wire), asked)


async def test_a_wait_that_the_server_asks_for_beyond_the_bound_is_not_waited(asked: GenerateRequest) -> None:
    async with FakeBackend("vllm") as backend, BackendClient() as client:
        backend.faults.always = Fault("status", status=429, retry_after="3600")
        with pytest.raises(BackendUnreachable, match="Retry-After 3600 s"):
            await client.generate(BackendTarget(backend.address, "vllm"), asked)
        assert backend.requests == 1


async def test_a_retry_after_that_cannot_be_read_is_passed_over(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("vllm") as backend:
        backend.faults.fail_next(1, Fault("status", status=503, retry_after="soon"))
        assert (await client.generate(BackendTarget(backend.address, "vllm"), asked)).tries == 2


async def test_a_retry_after_that_is_a_date_is_honoured(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("vllm") as backend:
        backend.faults.fail_next(1, Fault("status", status=503, retry_after="Mon, 01 Jan 2001 00:00:00 GMT"))
        assert (await client.generate(BackendTarget(backend.address, "vllm"), asked)).tries == 2
        backend.faults.fail_next(1, Fault("status", status=503, retry_after="Fri, 01 Jan 2100 00:00:00 GMT"))
        with pytest.raises(BackendUnreachable, match="Retry-After"):
            await client.generate(BackendTarget(backend.address, "vllm"), asked)


def test_waits_double_up_to_the_longest_and_never_undercut_the_server() -> None:
    backoff, rng = Backoff(first_seconds=1.0, longest_seconds=4.0), Random(1)
    for tries, full in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0), (2000, 4.0)]:
        waits = [backoff.wait_seconds(tries, rng) for _ in range(50)]
        assert all(full / 2 <= wait <= full for wait in waits) and len(set(waits)) > 1
    assert backoff.wait_seconds(1, rng, retry_after=30.0) == 30.0


def test_tries_end_by_count_or_by_time() -> None:
    backoff = Backoff(max_attempts=3, give_up_seconds=10.0)
    assert backoff.allows(2, seconds_since_fault=10.0)
    assert not backoff.allows(3, seconds_since_fault=0.0)
    assert not backoff.allows(1, seconds_since_fault=10.1)
