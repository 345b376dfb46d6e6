"""What the tests of hooks, engine and gateway share: plugins by name, and a whole service that must end empty."""

import asyncio
import sys
import types
import uuid
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import pytest

from raas_sdk import Reward, hookimpl
from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.client import BackendClient
from raas_sdk.engine import Engine, RuntimeChooser, direct_channels
from raas_sdk.gateway import Gateway, admit
from raas_sdk.hooks import load_plugins
from raas_sdk.settings import load_settings
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.workspace import Observation, Tool

# A busy machine is no reason to fail: nothing here asserts how long something takes.
hypothesis.settings.register_profile("raas", deadline=None, max_examples=60)
hypothesis.settings.load_profile("raas")

QUICK = Backoff(max_attempts=3, first_seconds=0.001, longest_seconds=0.002)
HI = [104, 105, 257]


@dataclass
class Service:
    """A gateway and an engine that send each other every message encoded."""

    gateway: Gateway
    engine: Engine
    backends: list
    client: BackendClient
    settings: Any

    def submit(self, job_id=None, *, source="task", sampling=None, instance=None, **more):
        body = {"instance": {"data_source": source, **(instance or {})}, "sampling_params": sampling or {}, **more}
        return self.gateway.submit(admit({**body, **({} if job_id is None else {"job_id": job_id})}, self.settings))

    async def result(self, *args, **more):
        return await self.submit(*args, **more).done

    def leftovers(self):
        """Everything that is taken and not given back, by name."""
        pools = {stage.value: permits.held for stage, permits in self.engine.pools.by_stage.items()}
        kept = {
            **pools,
            "handover": self.engine.pools.handover.held,
            "engine leases": self.engine.leases.held,
            "gateway leases": self.gateway.desk.held + self.gateway.desk.waiting,
            "live on backends": sum(backend.live for backend in self.gateway.backends.list()),
            "running": len(self.engine.table.running),
            "unconfirmed": len(self.engine.table.unconfirmed),
            "live": len(self.gateway.records.live),
            "credit": self.settings.init_workers - self.gateway.credit,
            "cleaning": len(self.gateway.engine.cleaning),
        }
        return {name: count for name, count in kept.items() if count}

    async def settle(self):
        """Let messages under way arrive, and what was cancelled give back what it held."""
        for turn in range(3000):
            await asyncio.sleep(0 if turn < 200 else 0.005)
            if not self.leftovers() or (turn > 200 and not self.gateway.engine.cleaning):
                break


@dataclass
class FakeRuntime:
    """Sandboxes in memory. `open` holds those not closed yet, `calls` what the tools were asked."""

    name: str = "fake"
    level: str = "none"
    open: set = field(default_factory=set)
    opened: int = 0
    calls: list = field(default_factory=list)
    answer: Any = None
    fail_open: Any = None
    fail_close: Any = None

    async def probe(self):
        return types.SimpleNamespace(available=True, reason="", level=self.level)

    @asynccontextmanager
    async def open_workspace(self, spec, *, tools):
        if self.fail_open is not None:
            await _act(self.fail_open)
        workspace = MemoryWorkspace(self, f"w{self.opened}", tuple(Tool(name, "", {}) for name in tools))
        self.opened += 1
        self.open.add(workspace.id)
        try:
            yield workspace
        finally:
            if self.fail_close is not None:
                await _act(self.fail_close)
            self.open.discard(workspace.id)


@dataclass
class MemoryWorkspace:
    """`answer` of its runtime says what a call does: None, text, an exception, or an async function."""

    home: FakeRuntime
    id: str
    tools: tuple
    runtime: str = "fake"
    level: str = "none"

    async def call(self, name, arguments, *, timeout):
        self.home.calls.append((self.id, name))
        return Observation(await _act(self.home.answer) or "ok")

    async def exec(self, argv, *, timeout, stdin=b""):
        raise NotImplementedError

    async def read(self, path):
        return b""

    async def write(self, path, data):
        return None

    async def close(self):
        self.home.open.discard(self.id)


async def _act(what):
    if isinstance(what, BaseException):
        raise what
    return await what() if callable(what) else what


STRICT = ("nouns", "hooks", "engine", "gateway")


def pytest_collection_modifyitems(items):
    """Here a coroutine that nobody awaited, or a connection that nobody closed, is a fault."""
    for item in items:
        if item.path.parent.name in STRICT:
            item.add_marker(pytest.mark.filterwarnings("error"))


class Task:
    """A task plugin whose run samples one turn and whose eval likes everything."""

    sources = ("task",)

    @hookimpl
    def raas_data_sources(self):
        return self.sources

    @hookimpl
    async def raas_run(self, policy):
        talk = policy.conversation([{"role": "user", "content": "hi"}])
        return (await talk.sample()).text

    @hookimpl
    async def raas_eval(self, trajectory):
        return Reward(1.0)


@pytest.fixture
def task():
    """Makes a task plugin for these data sources; functions given as run=, eval=, ... become its hooks."""

    def make(*sources, **hooks):
        marked = {f"raas_{name}": hookimpl(hook) for name, hook in hooks.items()}
        return type("Made", (Task,), {"sources": sources or ("task",), **marked})()

    return make


@pytest.fixture
def as_plugin():
    """Turns an object into what `--plugin` takes; its name is the plugin's."""
    made = []

    def make(plugin, name="task"):
        module = types.ModuleType(f"raas_tests_{uuid.uuid4().hex}")
        setattr(module, name, plugin)
        sys.modules[module.__name__] = module
        made.append(module.__name__)
        return f"{module.__name__}:{name}"

    yield make
    for name in made:
        del sys.modules[name]


@pytest.fixture
def settings_of(tmp_path):
    """Settings that nothing outside the test has touched."""

    def make(**flags):
        given = {"tokenizer": "test:chatml", "entry_points": False, "runtime": "fake", "grace_seconds": 0.2, **flags}
        return load_settings(given, environ={}, folder=tmp_path)

    return make


@pytest.fixture
def runtime():
    return FakeRuntime()


@pytest.fixture
def service(as_plugin, settings_of, runtime):
    """Opens a service over these plugins (objects, or (name, object)); afterwards nothing may be left."""

    @asynccontextmanager
    async def opened(*plugins, backends=1, script=(HI,), wire="vllm", left=frozenset(), idle=True, **flags):
        before = asyncio.all_tasks()
        named = [as_plugin(p[1], p[0]) if isinstance(p, tuple) else as_plugin(p) for p in plugins]
        async with AsyncExitStack() as stack:
            fakes = [await stack.enter_async_context(FakeBackend(wire, script=script)) for _ in range(backends)]
            flags.setdefault("backend", tuple(fake.address for fake in fakes))
            settings = settings_of(plugin=(*named, *flags.pop("plugin", ())), **flags)
            loaded = load_plugins(settings)
            client = await stack.enter_async_context(BackendClient(backoff=QUICK))
            chooser = RuntimeChooser("fake", allow_unsafe=True, runtimes={"fake": runtime})
            ours, theirs = direct_channels(coded=True)
            opening = Engine.open(loaded, settings, theirs, runtimes=chooser, client=client)
            engine = await stack.enter_async_context(opening)
            gateway = await stack.enter_async_context(Gateway.open(loaded, settings, ours))
            await gateway.ready.wait()
            one = Service(gateway, engine, fakes, client, settings)
            yield one
            if idle:
                await one.settle()
                assert one.leftovers() == {}
        for _ in range(50):
            await asyncio.sleep(0)
        names = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}
        assert names <= set(left)
        assert not runtime.open

    return opened
