"""The process inside a sandbox that acts for the host: it connects out, starts the tools, answers calls by id.

It ends, and everything it started with it, as soon as the host's end of its socket is closed, however that came about.
Standard library only; the tools it starts are processes of their own.
"""

import asyncio
import os
import resource
import signal
import socket
from collections.abc import Mapping
from typing import NoReturn

from raas_runtime.wire.actions import Actions
from raas_runtime.wire.family import Family, adopt_orphans, die_with_parent, end_descendants, hide
from raas_runtime.wire.frames import Frame, encode, read_frame, receive_frame
from raas_runtime.wire.listener import connect_out
from raas_runtime.wire.memory_watch import watch_memory

__all__ = ["main"]


def main(library: str, directory: str, *, user: int | None = None) -> NoReturn:
    """Serve the host that listens in `directory`, as `user` where one is given. Never returns."""
    connection = connect_out(directory)
    if user is not None:
        become(user)
    hide()
    adopt_orphans()
    die_with_parent(signal.SIGTERM)
    start = receive_frame(connection)
    limit_resources(start.header["limits"])
    try:
        asyncio.run(ActionServer(library, start).serve(connection))
    finally:
        leave()


def leave() -> NoReturn:
    """End this process and everything it started, at once: nobody waits for an answer any more."""
    end_descendants()
    os._exit(0)


def become(user: int) -> None:
    """Give up root for a user id that owns nothing, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def limit_resources(limits: Mapping[str, int]) -> None:
    """Set the limits of this process, which all that it starts inherit."""
    for name, value in limits.items():
        kind = getattr(resource, name)
        _, ceiling = resource.getrlimit(kind)
        value = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(kind, (value, value))


class ActionServer:
    """Reads requests until the host is gone; each runs as a task of its own and is answered once."""

    def __init__(self, library: str, start: Frame) -> None:
        self._start = start
        self._family = Family()
        self._actions = Actions(self._family, library)
        self._running: dict[int, asyncio.Task[None]] = {}

    async def serve(self, connection: socket.socket) -> None:
        """Start the tools, then answer whatever comes."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._family.reap_orphans)
        loop.add_signal_handler(signal.SIGTERM, leave)
        reader, writer = await asyncio.open_unix_connection(sock=connection)
        async with asyncio.TaskGroup() as group:
            group.create_task(watch_memory(self._family, self._start.header["memory_bytes"]))
            self._accept(self._start, group=group, writer=writer)
            while (frame := await next_frame(reader)) is not None:
                self._accept(frame, group=group, writer=writer)
            leave()

    def _accept(self, frame: Frame, *, group: asyncio.TaskGroup, writer: asyncio.StreamWriter) -> None:
        if frame.header["op"] == "cancel":
            target = self._running.get(frame.header["target"])
            if target is not None:
                target.cancel()
            return
        number = frame.header["id"]
        task = self._running[number] = group.create_task(self._answer(frame, writer))
        task.add_done_callback(lambda _: self._running.pop(number))

    async def _answer(self, frame: Frame, writer: asyncio.StreamWriter) -> None:
        answer = await self._actions.perform(frame)
        writer.write(encode({**answer.header, "id": frame.header["id"]}, answer.body))
        await writer.drain()


async def next_frame(reader: asyncio.StreamReader) -> Frame | None:
    """The next request; None where the host is gone."""
    try:
        return await read_frame(reader)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
