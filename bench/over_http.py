"""POST /process of a task that does nothing, through `raas serve`, beside a bare FastAPI front as another process."""

import asyncio
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
from adapters import NOWHERE, PLUGIN
from report import Row
from rounds import interleaved

__all__ = ["measure"]

FLOOR = (sys.executable, str(Path(__file__).with_name("front_floor.py")))
SERVICE = (
    *(sys.executable, "-m", "raas_sdk", "serve", "--port", "0", "--plugin", PLUGIN, "--no-entry-points"),
    *("--tokenizer", "test:plain", "--backend", NOWHERE, "--log-level", "error"),
)
BODY = {"instance": {"data_source": "noop", "instance_id": "x"}, "sampling_params": {"temperature": 1.0}}
AT_ONCE = 16


async def measure(*, requests: int, rounds: int) -> list[Row]:
    """One row: answers a second with 16 requests under way."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        urls = {
            "ours": await stack.enter_async_context(_process(SERVICE)),
            "floor": await stack.enter_async_context(_process(FLOOR)),
        }
        candidates = {name: partial(_post, session, f"{url}/process", requests) for name, url in urls.items()}
        seconds = await interleaved(candidates, rounds=rounds)
    speed = statistics.median([least / mine for mine, least in zip(seconds["ours"], seconds["floor"], strict=True)])
    shown = {name: f"{requests / statistics.median(times):,.0f} answers/s" for name, times in seconds.items()}
    return [Row("HTTP: POST /process, 16 at once", shown["ours"], shown["floor"], speed, 0.6, at_least=True)]


@asynccontextmanager
async def _process(command: tuple[str, ...]) -> AsyncIterator[str]:
    """A server of ours, whose first line ends in where it listens; ended afterwards."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        yield next(word for word in line.split() if word.startswith("http"))
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _post(session: aiohttp.ClientSession, url: str, count: int) -> None:
    left = iter(range(count))

    async def caller() -> None:
        for _ in left:
            async with session.post(url, json=BODY) as response:
                await response.read()
                response.raise_for_status()

    async with asyncio.TaskGroup() as callers:
        for _ in range(AT_ONCE):
            callers.create_task(caller())
