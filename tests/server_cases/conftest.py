"""A real server over fake inference servers, for cases told as a client meets them. Times are scaled, orders kept."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import aiohttp
import pytest

from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.client import BackendClient
from raas_sdk.engine import Engine, direct_channels
from raas_sdk.gateway import Gateway
from raas_sdk.hooks import load_plugins
from raas_sdk.server.listening import listen
from raas_sdk.server.serving import serve_http
from raas_sdk.settings import load_settings
from raas_sdk.testing.fake_backend import FakeBackend

PLUGIN = str(Path(__file__).with_name("cases_plugin.py"))
HI = [104, 105, 257]


class Client:
    """Calls a server by HTTP; keeps what every job was answered."""

    def __init__(self, url, session, gateway, backends):
        self.url, self.session, self.gateway, self.backends = url, session, gateway, backends

    async def call(self, method, path, **more):
        async with self.session.request(method, self.url + path, **more) as response:
            content = await response.read()
            is_json = response.content_type == "application/json"
            return SimpleNamespace(status=response.status, body=await response.json() if is_json else content)

    async def post(self, path, body=None, **more):
        return await self.call("POST", path, **({} if body is None else {"json": body}), **more)

    async def status(self):
        return (await self.call("GET", "/status")).body

    async def process(self, source="steps", *, job_id=None, limits=None, **instance):
        body = {"instance": {"data_source": source, **instance}}
        body |= {} if job_id is None else {"job_id": job_id}
        return await self.post("/process", body | ({} if limits is None else {"limits": limits}))

    def start(self, *args, **more):
        """Send a job and go on; gives the task of its answer."""
        return asyncio.create_task(self.process(*args, **more))

    async def until(self, holds):
        """Ask for the status until it is as wished."""
        while not holds(await self.status()):
            await asyncio.sleep(0.005)

    async def cleaned_up(self):
        """Return when no job holds anything; what that takes is bounded by the test's own limit."""
        await self.until(lambda s: s["jobs"] == 0 and s["leases"]["held"] == 0 and s["engines"][0]["cleaning"] == 0)


@asynccontextmanager
async def _service(settings):
    """As `open_service`, but calls that fail are tried again sooner."""
    plugins = load_plugins(settings)
    ours, theirs = direct_channels(coded=True)
    async with (
        BackendClient(backoff=Backoff(first_seconds=0.002, longest_seconds=0.02)) as client,
        Engine.open(plugins, settings, theirs, client=client),
        Gateway.open(plugins, settings, ours) as gateway,
    ):
        await gateway.ready.wait()
        yield gateway


@pytest.fixture
def serving():
    """A server with so many fake backends and these settings."""

    @asynccontextmanager
    async def opened(*, backends=1, wire="vllm", register=True, plugins=(), **flags):
        async with AsyncExitStack() as stack:
            fakes = [await stack.enter_async_context(FakeBackend(wire, script=[HI])) for _ in range(backends)]
            given = {
                "plugin": (PLUGIN, *plugins),
                "entry_points": False,
                "tokenizer": "test:chatml",
                "grace_seconds": 0.1,
            }
            given |= {
                "backend": tuple(fake.address for fake in fakes) if register else (),
                "backend_rest_seconds": 0.05,
            }
            settings = load_settings({**given, **flags}, environ={})
            gateway = await stack.enter_async_context(_service(settings))
            session = await stack.enter_async_context(
                aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(60))
            )
            stopping, url = asyncio.Event(), asyncio.get_running_loop().create_future()
            with listen("127.0.0.1", 0) as bound:
                server = asyncio.create_task(serve_http(gateway, bound, stopping=stopping, announce=url.set_result))
                try:
                    yield Client(await url, session, gateway, fakes)
                finally:
                    stopping.set()
                    await server

    return opened
