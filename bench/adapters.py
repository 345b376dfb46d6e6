"""The product behind the interfaces of the shared benchmark scripts (`--plug LABEL=adapters:Core`)."""

import asyncio
import gc
import tracemalloc
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

from raas_sdk.backends.lease import Lease
from raas_sdk.backends.pool import BackendPool
from raas_sdk.engine.messages import StageChanged
from raas_sdk.gateway import Gateway, JobRecord, Observer, admit, open_service
from raas_sdk.instance import Instance
from raas_sdk.result import Outcome, Result
from raas_sdk.settings import Settings

__all__ = ["CodedCore", "Core", "Router"]

PLUGIN = str(Path(__file__).with_name("noop_plugin.py"))
NOWHERE = "http://127.0.0.1:9"
"""Every job leases it, and no job of a task that samples nothing ever calls it."""


class Core:
    """The whole service without HTTP: admission, gateway, engine, every hook, budgets, announcements heard."""

    coded = False

    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._gateway = self._run(self._open(self._stack))

    def run(self, n: int) -> None:
        """Submit n jobs that do nothing; return when each has its result."""
        self._run(self._through(n))

    def park(self, n: int) -> float:
        """Bytes of a job in flight, in RUN and with a task that waits for its answer as HTTP would.

        Its instance is payload and not counted.
        """
        size: float = self._run(self._parked(n))
        return size

    def close(self) -> None:
        """End the service."""
        self._run(self._stack.aclose())
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run(work)

    async def _open(self, stack: AsyncExitStack, **more: Any) -> Gateway:
        settings = Settings(
            plugin=(PLUGIN,), entry_points=False, strict=True, tokenizer="test:plain", max_queued_jobs=10**6, **more
        )
        gateway = await stack.enter_async_context(open_service(settings, coded=self.coded))
        gateway.add_backend(NOWHERE, wire="vllm")
        return gateway

    async def _through(self, n: int) -> None:
        records = [_submit(self._gateway, i=i) for i in range(n)]
        _demand(Outcome.SCORED, [await record.done for record in records])

    async def _parked(self, n: int) -> float:
        async with AsyncExitStack() as stack:
            gateway = await self._open(stack, run_workers=n)
            _demand(Outcome.SCORED, [await _submit(gateway).done])
            watch = gateway.observer = RunWatch(n)
            gc.collect()
            tracemalloc.start()
            try:
                before = tracemalloc.get_traced_memory()[0]
                waiting = [asyncio.create_task(_answered(gateway, i=i, hold=True)) for i in range(n)]
                await watch.all_run.wait()
                gc.collect()
                size = tracemalloc.get_traced_memory()[0] - before
            finally:
                tracemalloc.stop()
            for job_id in tuple(gateway.records.live):
                gateway.cancel(job_id)
            _demand(Outcome.CANCELLED, await asyncio.gather(*waiting))
            return size / n - _payload_size(n)


class RunWatch(Observer):
    """Tells when `count` jobs hold a permit of RUN."""

    def __init__(self, count: int) -> None:
        self._missing = count
        self.all_run = asyncio.Event()

    def stage(self, message: StageChanged) -> None:
        """Count those that begin."""
        self._missing -= message.stage == "run" and message.state == "running"
        if not self._missing:
            self.all_run.set()


class CodedCore(Core):
    """The same with every message through msgpack and back, as between processes."""

    coded = True


class Router:
    """The service's own backend pool behind the interface of a routing model's router."""

    per_task = True

    def __init__(self, n: int, speeds: Sequence[float]) -> None:
        self._pool = BackendPool(Random(7))
        added = [
            self._pool.add(f"http://backend-{i}:8000", weight=float(speed)) for i, speed in enumerate(speeds, start=1)
        ]
        self._index = {backend.id: i for i, backend in enumerate(added)}
        self._leases: dict[Any, list[Lease]] = {}
        self.home: dict[Any, int] = {}

    def pick(self, task: Any, tokens: float, now: float) -> int:
        """The backend that the task's lease is on."""
        lease = self._pool.lease(str(task))
        if lease is None:
            raise SystemExit(f"the pool leased no backend to task {task!r}")
        self._leases.setdefault(task, []).append(lease)
        self.home[task] = self._index[lease.backend_id]
        return self.home[task]

    def release(self, task: Any, index: int, tokens: float, now: float) -> None:
        """The task has ended."""
        self._leases[task].pop().release()


def _submit(gateway: Gateway, **fields: Any) -> JobRecord:
    return gateway.submit(admit({"instance": {"data_source": "noop", **fields}}, gateway.settings))


async def _answered(gateway: Gateway, **fields: Any) -> Result:
    return await _submit(gateway, **fields).done


def _payload_size(n: int) -> float:
    """Bytes of an instance, on average."""
    tracemalloc.start()
    try:
        kept = [Instance.parse({"data_source": "noop", "i": i, "hold": True}) for i in range(n)]
        return tracemalloc.get_traced_memory()[0] / len(kept)
    finally:
        tracemalloc.stop()


def _demand(outcome: Outcome, results: Sequence[Result]) -> None:
    """A job that did not end as it should makes every figure worthless."""
    other = [result for result in results if result.outcome is not outcome]
    if other:
        raise SystemExit(f"{len(other)} of {len(results)} jobs ended {other[0].outcome}: {other[0].failure}")
