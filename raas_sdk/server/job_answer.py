"""The answer to a blocking /process: waits for the job, sends white space meanwhile, notices who has left."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from raas_sdk.gateway import Gateway, JobRecord
from raas_sdk.server.answers import encode_json
from raas_sdk.server.bodies import OFF_LOOP_BYTES
from raas_sdk.server.wire_bodies import result_body, weight_of

__all__ = ["JobAnswer", "Waiters"]

log = logging.getLogger(__name__)


class Waiters:
    """How many callers wait for each job: one that leaves must not end a job that another still wants."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._counts: Counter[str] = Counter()

    @asynccontextmanager
    async def waiting(self, record: JobRecord, *, cancel_if_left: bool) -> AsyncIterator[None]:
        """Wait inside; if the job is not done on the way out and nobody else waits, cancel it where so wished."""
        job_id = record.job.job_id
        self._counts[job_id] += 1
        try:
            yield
        finally:
            self._counts[job_id] -= 1
            if not self._counts[job_id]:
                del self._counts[job_id]
                if cancel_if_left and not record.done.done():
                    log.info("the caller has left, so its job is cancelled", extra={"job_id": job_id})
                    self._gateway.cancel(job_id)


class JobAnswer(Response):
    """Sends a job's result as soon as it is there; with `beat_seconds`, white space while it is not."""

    def __init__(
        self,
        record: JobRecord,
        waiters: Waiters,
        *,
        cancel_if_left: bool,
        beat_seconds: float | None = None,
        full: bool = False,
    ) -> None:
        super().__init__(media_type="application/json")
        del self.headers["Content-Length"]
        self._record = record
        self._waiters = waiters
        self._cancel_if_left = cancel_if_left
        self._beat_seconds = beat_seconds
        self._full = full

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._waiters.waiting(self._record, cancel_if_left=self._cancel_if_left):
            started = await self._wait(receive, send)
        if not self._record.done.done():
            return
        body = await self._body()
        if not started:
            self.headers["Content-Length"] = str(len(body))
            await self._start(send)
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _wait(self, receive: Receive, send: Send) -> bool:
        """Return, when the job is done or the caller gone, whether the response was started."""
        gone = asyncio.create_task(_left(receive))
        started = False
        try:
            while not await _first({self._record.done, gone}, self._beat_seconds):
                if not started:
                    await self._start(send)
                    started = True
                await send({"type": "http.response.body", "body": b" ", "more_body": True})
        finally:
            gone.cancel()
        return started

    async def _start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

    async def _body(self) -> bytes:
        result = self._record.done.result()
        if weight_of(result, full=self._full) > OFF_LOOP_BYTES:
            return await asyncio.to_thread(self._encoded)
        return self._encoded()

    def _encoded(self) -> bytes:
        return encode_json(result_body(self._record.job, self._record.done.result(), full=self._full))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


async def _first(waits: "set[asyncio.Future[Any]]", seconds: float | None) -> bool:
    done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)
