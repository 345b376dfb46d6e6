"""What the server's tests share: a real server on a free port, over a fake inference server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from raas_sdk.gateway import Observer, open_service
from raas_sdk.server.listening import listen
from raas_sdk.server.serving import serve_http
from raas_sdk.settings import load_settings
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens import load_renderer

PLUGIN = str(Path(__file__).with_name("task_plugin.py"))
END = load_renderer("test:chatml").stop_token_ids[0]


class Watcher(Observer):
    """Lets a test wait until a job has reached a stage or a number of turns."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        self.news = asyncio.Condition()
        self.tasks: set[asyncio.Task[None]] = set()

    def stage(self, message: Any) -> None:
        self._note(message.job_id, f"{message.stage} {message.state}")

    def turn(self, message: Any) -> None:
        self._note(message.job_id, f"turn {message.index}")

    async def reached(self, job_id: str, place: str) -> None:
        async with self.news:
            await self.news.wait_for(lambda: (job_id, place) in self.seen)

    def _note(self, job_id: str, place: str) -> None:
        self.seen.add((job_id, place))
        task = asyncio.create_task(self._tell())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _tell(self) -> None:
        async with self.news:
            self.news.notify_all()


class Caller:
    """Calls a server; answers are (status, decoded body, headers)."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self.session = session

    async def call(self, method: str, path: str, **more: Any) -> SimpleNamespace:
        async with self.session.request(method, self.url + path, **more) as response:
            content = await response.read()
            is_json = response.content_type == "application/json"
            body = await response.json() if is_json else content
            return SimpleNamespace(status=response.status, body=body, headers=response.headers, content=content)

    async def post(self, path: str, body: Any = None, **more: Any) -> SimpleNamespace:
        return await self.call("POST", path, **({} if body is None else {"json": body}), **more)

    async def get(self, path: str, **more: Any) -> SimpleNamespace:
        return await self.call("GET", path, **more)

    async def process(self, source: str = "echo", *, query: str = "", **body: Any) -> SimpleNamespace:
        return await self.post("/process" + query, {"instance": {"data_source": source, "instance_id": "i1"}, **body})


@asynccontextmanager
async def running(*, more_plugins: tuple[str, ...] = (), **settings: Any) -> AsyncIterator[SimpleNamespace]:
    flags = {
        "plugin": (PLUGIN, *more_plugins),
        "entry_points": False,
        "tokenizer": "test:chatml",
        "stop_seconds": 10,
        **settings,
    }
    stopping, url = asyncio.Event(), asyncio.get_running_loop().create_future()
    async with (
        open_service(load_settings(flags, environ={}), coded=True) as gateway,
        aiohttp.ClientSession() as session,
    ):
        gateway.observer = watcher = Watcher()
        with listen("127.0.0.1", 0) as bound:
            serving = asyncio.create_task(serve_http(gateway, bound, stopping=stopping, announce=url.set_result))
            try:
                caller = Caller(await url, session)
                yield SimpleNamespace(gateway=gateway, watcher=watcher, caller=caller, url=caller.url, serving=serving)
            finally:
                stopping.set()
                await serving


@pytest.fixture
def run_server() -> Callable[..., AbstractAsyncContextManager[SimpleNamespace]]:
    """A server with these settings; has gateway, watcher, caller and url."""
    return running


@pytest.fixture
async def backend() -> AsyncIterator[FakeBackend]:
    """Says 'yes', then 'no', in turn, each with its end-of-turn id."""
    script = [[*b"yes", END], [*b"no", END]]
    async with FakeBackend("prorl", script=script) as backend:
        yield backend


@pytest.fixture
async def server(backend: FakeBackend) -> AsyncIterator[SimpleNamespace]:
    async with running(backend=(backend.address,)) as server:
        yield server


@pytest.fixture
def caller(server: SimpleNamespace) -> Caller:
    return server.caller
