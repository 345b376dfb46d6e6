"""What the tests of backends share: every wire, a client that retries quickly, and a request."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.client import WIRES, BackendClient
from raas_sdk.backends.generation import GenerateRequest

QUICK = Backoff(max_attempts=4, first_seconds=0.001, longest_seconds=0.002)


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def client() -> AsyncIterator[BackendClient]:
    async with BackendClient(backoff=QUICK) as client:
        yield client


@pytest.fixture
def asked() -> GenerateRequest:
    return GenerateRequest([1, 10, 11], 16, seed=3, stop_token_ids=(2,), request_id="r1")


@pytest.fixture
def unused_address() -> Iterator[str]:
    """An address that refuses connections: its port is held, but nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def serve_routes() -> Callable[[dict[str, Any]], AbstractAsyncContextManager[str]]:
    """A server with these GET routes and their JSON bodies; yields its address."""

    @asynccontextmanager
    async def serving(routes: dict[str, Any]) -> AsyncIterator[str]:
        app = web.Application()
        for route, body in routes.items():
            app.router.add_get(route, _constant(body))
        async with TestServer(app) as server:
            yield str(server.make_url("")).rstrip("/")

    return serving


def _constant(body: Any) -> Any:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(body)

    return answer
