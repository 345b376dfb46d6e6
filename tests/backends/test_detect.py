from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BackendUnreachable
from raas_sdk.testing.fake_backend import FakeBackend

ServeRoutes = Callable[[dict[str, Any]], AbstractAsyncContextManager[str]]


async def test_every_wire_is_found_by_its_get_routes(wire: str, client: BackendClient) -> None:
    async with FakeBackend(wire) as backend:
        assert await client.detect(backend.address) == wire
        assert await client.detect(f"{backend.address}/v1") == wire
        assert backend.requests == 0


async def test_an_address_where_nothing_listens_is_unreachable(client: BackendClient, unused_address: str) -> None:
    with pytest.raises(BackendUnreachable, match=unused_address):
        await client.detect(unused_address)


async def test_a_server_that_is_still_loading_is_not_taken_for_another_kind(client: BackendClient) -> None:
    async with FakeBackend("llamacpp") as backend:
        backend.faults.probes_status = 503
        with pytest.raises(BackendUnreachable, match="not ready"):
            await client.detect(backend.address)


async def test_an_unprobed_backend_is_probed_once_at_first_use(
    wire: str, client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend(wire) as backend:
        target = BackendTarget(backend.address, epoch=4)
        for _ in range(3):
            assert list((await client.generate(target, asked)).token_ids) == [7, 8, 2]
        assert backend.probes == {"llamacpp": 1, "prorl": 3, "vllm": 3, "vllm_completions": 3}[wire]


async def test_an_old_vllm_is_known_by_its_models(client: BackendClient, serve_routes: ServeRoutes) -> None:
    async with serve_routes({"/v1/models": {"data": [{"id": "m", "owned_by": "vllm"}]}}) as address:
        assert await client.detect(address) == "vllm_completions"


@pytest.mark.parametrize("body", [[], "text", {"data": "x"}, {"data": ["x"]}, {"version": 3}])
async def test_routes_that_answer_something_else_are_no_sign(
    client: BackendClient, serve_routes: ServeRoutes, body: object
) -> None:
    async with serve_routes({"/v1/models": body, "/props": body, "/version": body}) as address:
        assert await client.detect(address) == "prorl"
