"""kill -9 of any part while a rollout runs: the outcome is the promised one, the service lives, nothing is left."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from raas_runtime import Bubblewrap

from raas_sdk.backends.embedded import embedded_model, model_path
from raas_sdk.errors import SettingsInvalid
from raas_sdk.gateway import Observer, admit, open_service
from raas_sdk.settings import load_settings
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens import load_renderer

RENDERER = load_renderer("test:plain")
INSTANCE = {"data_source": "math", "question": "What is 6 * 7?", "answer": "42"}
FINISH = "```finish\n\\boxed{42}\n```"


def children_of(pid):
    """Every living descendant, by the kernel's own list."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *children_of(int(child))]
    return found


@asynccontextmanager
async def service(address, tokenizer="test:plain"):
    probe = await Bubblewrap().probe()
    runtime = {} if probe.available else {"runtime": "local", "allow_unsafe_runtime": True}
    plugins = {"plugins": {"math": {"preload": []}}}
    settings = load_settings({"backend": (address,), "tokenizer": str(tokenizer), **runtime, **plugins})
    async with open_service(settings, coded=True) as gateway:

        def start(**limits):
            body = {"instance": INSTANCE, "sampling_params": {"max_turns": 5, "seed": 3, **limits}}
            return gateway.submit(admit(body, settings)).done

        yield gateway, start


class Watch(Observer):
    """Says when the first turn of each attempt is there."""

    def __init__(self):
        self.turns = asyncio.Queue()

    def turn(self, message):
        self.turns.put_nowait(message)


async def sandbox_of(pid, before):
    """The outer process of the sandbox that came after `before`."""
    fresh = [child for child in children_of(pid) if child not in before]
    return next(child for child in fresh if os.path.exists(f"/proc/{child}") and _parent(child) == pid)


def _parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_a_sandbox_killed_once_costs_an_attempt_and_not_the_rollout():
    spin = "```python\nwhile True: pass\n```"
    async with FakeBackend(wire="vllm", script=[spin, FINISH], encode=RENDERER.encode) as backend:
        async with service(backend.address) as (gateway, start):
            gateway.observer = watch = Watch()
            before = children_of(os.getpid())
            done = start()
            await watch.turns.get()
            os.kill(await sandbox_of(os.getpid(), before), signal.SIGKILL)
            result = await done
            again = await start()
        assert (result.outcome, result.reward, result.attempt) == ("scored", 1.0, 2)
        assert "sandbox_died" in " ".join(result.extra["notes"])
        assert again.outcome in ("scored", "model_limit")
        assert set(children_of(os.getpid())) <= set(before)


async def test_a_sandbox_killed_in_every_attempt_is_the_policys_doing_and_pays_nothing():
    spin = "```python\nwhile True: pass\n```"
    async with FakeBackend(wire="vllm", script=[spin], encode=RENDERER.encode) as backend:
        async with service(backend.address) as (gateway, start):
            gateway.observer = watch = Watch()
            before = children_of(os.getpid())
            done = start(infra_retries=1)
            for _ in range(2):
                await watch.turns.get()
                os.kill(await sandbox_of(os.getpid(), before), signal.SIGKILL)
            result = await done
        assert (result.outcome, result.reward) == ("model_limit", 0.0)
        assert result.failure.code == "sandbox_died"
        assert result.trainable
        assert set(children_of(os.getpid())) <= set(before)


@pytest.fixture
def embedded():
    try:
        model_path()
    except SettingsInvalid as error:
        pytest.skip(str(error))


async def sampling(address):
    """Return once the server itself says that it is at work on a call."""
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{address}/slots") as answer:
                if any(slot["is_processing"] for slot in await answer.json()):
                    return


async def test_the_model_killed_in_mid_turn_is_started_again_and_the_turn_is_sampled_again(embedded):
    before = children_of(os.getpid())
    async with embedded_model(slots=1) as model, service(model.address, model.tokenizer) as (gateway, start):
        done = start(max_turns=1, max_output_tokens=400, temperature=1.5)
        await sampling(model.address)
        os.kill(model.pid, signal.SIGKILL)
        result = await done
        assert model.starts == 2
        assert gateway.status()["leases"]["held"] == 0
    (turn,) = [span for span in result.trajectory.segments[0].turns if span.role == "assistant"]
    assert result.outcome in ("scored", "model_limit")
    assert result.attempt == 1
    assert turn.note
    assert set(children_of(os.getpid())) <= set(before)
