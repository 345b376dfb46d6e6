"""A scripted HTTP service: each request gets the next answer."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from raas_sdk.client import Patience

QUICK = Patience(tries=4, first_seconds=0.001, longest_seconds=0.002)


def result_row(**more: Any) -> dict[str, Any]:
    """As much of a /process answer as batches read."""
    return {
        "data_source": "echo",
        "instance_digest": "d1",
        "outcome": "scored",
        "reward": 1.0,
        "resolved": True,
        "trainable": True,
        "usage": {"turns": 2, "sampled_tokens": 10},
        "timing": {"init_time": 1.0, "run_time": 2.0, "eval_time": 3.0},
        **more,
    }


@pytest.fixture
def result() -> Any:
    return result_row


@pytest.fixture
def quick() -> Patience:
    return QUICK


@pytest.fixture
async def service() -> AsyncIterator[SimpleNamespace]:
    """`answers` are (status, body, headers) or 'cut'; the last one is repeated. `requests` is what came."""
    state = SimpleNamespace(answers=[], requests=[])

    async def handle(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        state.requests.append(SimpleNamespace(path=request.path, body=body, headers=request.headers))
        said = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
        if said == "cut":
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        status, answer, headers = said
        return web.json_response(answer, status=status, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server:
        state.url = str(server.make_url("")).rstrip("/")
        yield state
