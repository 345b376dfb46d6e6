"""The action server's handle on one kernel process."""

import asyncio
import contextlib
import os
import signal
import socket
from typing import Any, NamedTuple, Protocol

from raas_runtime.wire.frames import encode, read_frame_from

__all__ = ["Answer", "Kernel"]


class Reaper(Protocol):
    """Who started a kernel and can say how it ended."""

    async def reap(self, pid: int) -> int | None:
        """Its exit code."""


class Answer(NamedTuple):
    """How a cell ended: ok, error or interrupted; the text of its last value, None where it showed none."""

    status: str
    value: str | None
    cut: bool


class Kernel:
    """One kernel: send a cell, receive its answer, interrupt it, see it die."""

    def __init__(self, pid: int, connection: socket.socket, *, zygote: Reaper) -> None:
        self._pid = pid
        self._connection = connection
        self._connection.settimeout(0)
        self._zygote = zygote
        self._interrupted = False
        self._pidfd = os.pidfd_open(pid)
        loop = asyncio.get_running_loop()
        self.death: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._pidfd, self._on_death)

    async def send(self, code: str, pipe: int) -> None:
        """Hand over a cell and the write end for its output."""
        loop = asyncio.get_running_loop()
        header, self._interrupted = {"after_interrupt": self._interrupted}, False
        socket.send_fds(self._connection, [b"c"], [pipe])
        await loop.sock_sendall(self._connection, encode(header, code.encode("utf-8", "surrogatepass")))

    async def receive(self) -> Answer:
        """The running cell's answer; EOFError, OSError or ValueError where the kernel no longer speaks."""
        frame = await read_frame_from(self._connection)
        return answer_of(frame.header, frame.body)

    def interrupt(self) -> None:
        """SIGINT to the kernel and to what its cell started, as a terminal's ^C."""
        self._interrupted = True
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """SIGKILL to the kernel and its group."""
        self._signal(signal.SIGKILL)

    async def end(self) -> int | None:
        """Kill what is left of it and its group; its exit code, negative for a signal. Once only."""
        self.kill()
        await self.death
        self._connection.close()
        return await self._zygote.reap(self._pid)

    def _signal(self, number: int) -> None:
        # Until it is reaped its pid, and so its group's id, cannot be another's.
        try:
            os.killpg(self._pid, number)
        except ProcessLookupError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, number)  # it does not lead a group yet

    def _on_death(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        os.close(self._pidfd)
        self.death.set_result(None)


def answer_of(header: dict[str, Any], body: bytes) -> Answer:
    """The answer in a frame; ValueError where user code has written its own."""
    status = header.get("status")
    if status not in ("ok", "error", "interrupted"):
        raise ValueError(f"no cell's answer: {header!r}")
    value = body.decode("utf-8", "replace") if header.get("value") is True else None
    return Answer(status, value, cut=header.get("cut") is True)
