"""A bounded pool of worker processes for grading; a worker that hangs or dies is killed and replaced."""

import asyncio
import os
import pickle
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from raas_sdk.engine import grade_worker
from raas_sdk.engine.grade_worker import HEADER
from raas_sdk.engine.permits import Permits
from raas_sdk.errors import GraderFault

__all__ = ["GraderPool"]

IMPORT_SECONDS = 120.0


class Worker:
    """One process and the stream of its answers."""

    def __init__(self, process: asyncio.subprocess.Process, answers: asyncio.StreamReader, pipe: Any) -> None:
        self.process = process
        self._answers = answers
        self._pipe = pipe

    @classmethod
    async def start(cls) -> "Worker":
        """Start a process that inherits nothing but its answer pipe."""
        read_fd, write_fd = os.pipe()
        argv = (sys.executable, "-P", grade_worker.__file__, str(write_fd))
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, pass_fds=(write_fd,)
            )
        except OSError:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        answers = asyncio.StreamReader()
        reader = asyncio.StreamReaderProtocol(answers)
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: reader, os.fdopen(read_fd, "rb"))
        return cls(process, answers, pipe)

    async def call(self, payload: bytes, seconds: float) -> Any:
        """Run one call; raise GraderFault if it raised, asyncio.IncompleteReadError if the process died."""
        assert self.process.stdin is not None
        self.process.stdin.write(HEADER.pack(b"c", len(payload)) + payload)
        await self.process.stdin.drain()
        async with asyncio.timeout(IMPORT_SECONDS):
            kind, value = await self._answer()
        if kind == b"s":
            async with asyncio.timeout(seconds):
                kind, value = await self._answer()
        if kind == b"e":
            raise GraderFault(f"the grader raised {pickle.loads(value)}", code="grader_raised")
        return pickle.loads(value)

    async def _answer(self) -> tuple[bytes, bytes]:
        kind, size = HEADER.unpack(await self._answers.readexactly(HEADER.size))
        return kind, await self._answers.readexactly(size)

    async def end(self) -> None:
        """Kill it and wait until it is gone."""
        self._pipe.close()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


class GraderPool:
    """Up to `size` workers, started when first needed and kept warm."""

    def __init__(self, size: int) -> None:
        self._permits = Permits(size)
        self._idle: list[Worker] = []

    async def grade(self, fn: Callable[..., Any], args: tuple[Any, ...], *, seconds: float, memory: int) -> Any:
        """Run fn(*args) in a worker; `seconds` counts from the moment its imports are done."""
        payload = pickle.dumps((fn, args, memory))
        name = getattr(fn, "__qualname__", repr(fn))
        async with self._permits.hold(), self._worker() as worker:
            try:
                return await worker.call(payload, seconds)
            except TimeoutError as error:
                raise GraderFault(
                    f"{name} took more than {seconds:g} s and was killed", code="grader_timeout"
                ) from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                code = await worker.process.wait()
                raise GraderFault(f"{name} died (exit code {code})", code="grader_died", retryable=True) from error

    async def close(self) -> None:
        """End all idle workers; busy ones end with their calls."""
        self._permits.size = 0
        while self._idle:
            await self._idle.pop().end()

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        worker = self._idle.pop() if self._idle else await Worker.start()
        healthy = False
        try:
            yield worker
            healthy = True
        except GraderFault as error:
            healthy = error.code == "grader_raised"
            raise
        finally:
            if healthy and self._permits.size:
                self._idle.append(worker)
            else:
                await worker.end()
