"""A bounded pool of worker processes for grading; a worker that hangs or dies is killed and replaced."""

import asyncio
import os
import pickle
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from raas_sdk.engine import grade_worker
from raas_sdk.engine.grade_worker import HEADER
from raas_sdk.engine.permits import Permits
from raas_sdk.errors import GraderFault
from raas_sdk.hooks.discovery import PATH_PREFIX

__all__ = ["GraderPool"]

IMPORT_SECONDS = 120.0


class Worker:
    """One process, leader of its own group, and the stream of its answers."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._answers = asyncio.StreamReader()
        self._pipe: asyncio.ReadTransport | None = None

    @classmethod
    async def start(cls) -> "Worker":
        """Start a process that inherits nothing but its answer pipe."""
        read_fd, write_fd = os.pipe()
        with os.fdopen(read_fd, "rb") as answers, os.fdopen(write_fd, "wb"):
            argv = (sys.executable, "-P", grade_worker.__file__, str(write_fd), str(os.getpid()))
            pipes = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=pipes[0], stdout=pipes[1], pass_fds=(write_fd,), start_new_session=True
            )
            worker = cls(process)
            try:
                await worker._listen(os.dup(answers.fileno()))
            except asyncio.CancelledError:
                await worker.end()
                raise
        return worker

    async def call(self, payload: bytes, seconds: float) -> Any:
        """Run one call; raise GraderFault if it raised, asyncio.IncompleteReadError if the process died."""
        assert self.process.stdin is not None
        self.process.stdin.write(HEADER.pack(b"c", len(payload)) + payload)
        await self.process.stdin.drain()
        kind, value = await self._answer(IMPORT_SECONDS, "its imports took")
        if kind == b"s":
            kind, value = await self._answer(seconds, "it took")
        if kind == b"e":
            raise GraderFault(f"the grader raised {pickle.loads(value)}", code="grader_raised")
        try:
            return pickle.loads(value)
        except Exception as error:
            fault = f"the grader's result cannot be read here: {type(error).__name__}: {error}"
            raise GraderFault(fault, code="grader_unpicklable") from error

    async def end(self) -> None:
        """Kill it and all that it started, and wait until it is gone."""
        if self._pipe is not None:
            self._pipe.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()

    async def _listen(self, descriptor: int) -> None:
        reader = asyncio.StreamReaderProtocol(self._answers)
        pipe = os.fdopen(descriptor, "rb")
        self._pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: reader, pipe)

    async def _answer(self, seconds: float, what: str) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(seconds):
                kind, size = HEADER.unpack(await self._answers.readexactly(HEADER.size))
                return kind, await self._answers.readexactly(size)
        except TimeoutError as error:
            fault = f"{what} more than {seconds:g} s and was killed"
            raise GraderFault(fault, code="grader_timeout") from error


class GraderPool:
    """Up to `size` workers, started when first needed and kept warm."""

    def __init__(self, size: int) -> None:
        self._permits = Permits(size)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def grade(self, fn: Callable[..., Any], args: tuple[Any, ...], *, seconds: float, memory: int) -> Any:
        """Run fn(*args) in a worker; `seconds` counts from the moment its imports are done."""
        name = getattr(fn, "__qualname__", repr(fn))
        payload = _pickled(name, fn, args, memory)
        async with self._permits.hold(), self._worker() as worker:
            try:
                return await worker.call(payload, seconds)
            except GraderFault as error:
                raise GraderFault(f"{name}: {error}", code=error.code) from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                code = await worker.process.wait()
                raise GraderFault(f"{name} died (exit code {code})", code="grader_died", retryable=True) from error

    async def close(self) -> None:
        """End all workers; a call that is still under way fails with GraderFault."""
        self._closed = True
        for worker in (*self._idle, *self._busy):
            await worker.end()
        self._idle.clear()

    async def _living(self) -> Worker | None:
        """An idle worker that did not die while it waited."""
        while self._idle:
            worker = self._idle.pop()
            if worker.process.returncode is None:
                return worker
            await worker.end()
        return None

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[Worker]:
        if self._closed:
            raise GraderFault("the engine has closed its grading workers", code="grader_closed")
        worker = await self._living() or await Worker.start()
        self._busy.add(worker)
        healthy = False
        try:
            yield worker
            healthy = True
        except GraderFault as error:
            healthy = error.code == "grader_raised"
            raise
        finally:
            self._busy.discard(worker)
            if healthy and not self._closed:
                self._idle.append(worker)
            else:
                await worker.end()


def _pickled(name: str, fn: Callable[..., Any], args: tuple[Any, ...], memory: int) -> bytes:
    modules = {found: module.__file__ for found, module in tuple(sys.modules.items()) if found.startswith(PATH_PREFIX)}
    try:
        return pickle.dumps((modules, sys.path, memory, pickle.dumps((fn, args))))
    except Exception as error:
        advice = "use a function of a module and plain arguments"
        fault = f"{name} cannot be sent to a grading worker ({type(error).__name__}: {error}); {advice}"
        raise GraderFault(fault, code="grader_unpicklable") from error
