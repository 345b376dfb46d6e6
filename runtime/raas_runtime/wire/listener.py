"""The host's end before a sandbox is up: a Unix socket in a private directory, for one connection."""

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["SOCKET_NAME", "Listener", "connect_out"]

SOCKET_NAME = "socket"


class Listener:
    """Listens in `directory` (0700, this sandbox's alone); unlinked as soon as the sandbox has connected."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / SOCKET_NAME
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            with_short_path(directory, self._socket.bind)
            self._socket.listen(1)
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._socket.close()
        self._path.unlink(missing_ok=True)

    async def accept(self) -> socket.socket:
        """The sandbox's connection."""
        connection, _ = await asyncio.get_running_loop().sock_accept(self._socket)
        return connection


def connect_out(directory: str) -> socket.socket:
    """Connect from inside the sandbox to the host that listens in `directory`."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with_short_path(Path(directory), connection.connect)
    return connection


def with_short_path(directory: Path, act: Callable[[str], None]) -> None:
    """Bind or connect through a descriptor of the directory: a socket's path holds 107 bytes only."""
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        act(f"/proc/self/fd/{descriptor}/{SOCKET_NAME}")
    finally:
        os.close(descriptor)
