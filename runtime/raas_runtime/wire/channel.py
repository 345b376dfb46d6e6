"""The host's end of a running sandbox: requests with ids, several in flight, each sent once."""

import asyncio
import contextlib
import itertools
import socket
from collections.abc import Mapping
from typing import Any

from raas_runtime.errors import SandboxClosed, SandboxDied, SandboxError
from raas_runtime.wire.frames import Frame, encode, read_frame

__all__ = ["Channel"]


class Channel:
    """One connection to one action server. When it ends, every pending and later request raises SandboxDied."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, owner: str) -> None:
        self._reader = reader
        self._writer = writer
        self._owner = owner
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Frame]] = {}
        self._ended: SandboxError | None = None
        self._pump = asyncio.create_task(self._deliver(), name=f"channel of {owner}")

    @classmethod
    async def over(cls, connection: socket.socket, *, owner: str) -> "Channel":
        """A channel over an accepted socket, which it then owns."""
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        return cls(reader, writer, owner=owner)

    async def request(self, header: Mapping[str, Any], body: bytes = b"", *, patience: float) -> Frame:
        """Send once and wait for the answer, at most `patience` seconds; SandboxDied where none comes.

        A cancelled request tells the sandbox to interrupt that action.
        """
        if self._ended is not None:
            raise self._gone()
        number = next(self._ids)
        frame = encode({**header, "id": number}, body)
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            self._writer.write(frame)
            async with asyncio.timeout(patience):
                return await answer
        except TimeoutError as error:
            operation = header.get("op")
            self._end(SandboxDied(f"{self._owner} did not answer {operation!r} within {patience:.0f} s"))
            raise self._gone() from error
        except asyncio.CancelledError:
            self._interrupt(number)
            raise
        finally:
            del self._pending[number]

    async def finish(self) -> None:
        """Tell the sandbox to end and wait until its side is closed; pending requests raise SandboxClosed."""
        self._end(SandboxClosed(f"{self._owner} was closed"))
        if not self._pump.done():
            with contextlib.suppress(OSError):  # the sandbox may close at this very moment
                self._writer.write_eof()
        await asyncio.shield(self._pump)

    def close(self) -> None:
        """Give the connection back at once."""
        self._end(SandboxClosed(f"{self._owner} was closed"))
        self._writer.close()
        self._pump.cancel()

    def _interrupt(self, number: int) -> None:
        if self._ended is None:
            self._writer.write(encode({"op": "cancel", "target": number}))

    async def _deliver(self) -> None:
        try:
            while True:
                frame = await read_frame(self._reader)
                waiter = self._pending.get(frame.header.get("id", 0))
                if waiter is not None and not waiter.done():
                    waiter.set_result(frame)
        except (asyncio.IncompleteReadError, OSError) as error:
            self._end(SandboxDied(f"{self._owner} died: its connection closed ({type(error).__name__})"))
        except (ValueError, RecursionError) as error:
            self._end(SandboxDied(f"{self._owner} sent something that is no frame ({error})"))

    def _end(self, reason: SandboxError) -> None:
        """Let no request wait any longer; the first reason stands."""
        self._ended = self._ended or reason
        for waiter in self._pending.values():
            if not waiter.done():
                waiter.set_exception(self._gone())

    def _gone(self) -> SandboxError:
        assert self._ended is not None
        return type(self._ended)(*self._ended.args)
