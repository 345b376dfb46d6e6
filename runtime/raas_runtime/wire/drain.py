"""Reading a pipe without waiting for its end: a background process may hold it open for as long as it lives."""

import asyncio
import fcntl
import os
from collections.abc import Callable

__all__ = ["Drain"]

CHUNK_BYTES = 1 << 16


class Drain:
    """Feeds what arrives on a read end to `feed`, from the event loop; owns and closes the descriptor."""

    def __init__(self, descriptor: int, feed: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = descriptor
        self._feed = feed
        self._ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    @property
    def ended(self) -> bool:
        """Whether every writer has closed."""
        return self._descriptor is None

    async def end(self) -> None:
        """Wait until every writer has closed."""
        await asyncio.shield(self._ended)

    def settle(self) -> None:
        """Feed what was written so far; what comes later is read and dropped, so that no writer blocks or dies."""
        if self._descriptor is not None:
            left = fcntl.fcntl(self._descriptor, fcntl.F_GETPIPE_SZ)
            while left > 0 and (count := self._read()):
                left -= count
        self._feed = discard

    def close(self) -> None:
        """Close the read end; a later write on the other end fails."""
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
            self._ended.set_result(None)

    def _read(self) -> int:
        if self._descriptor is None:
            return 0
        try:
            data = os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return 0
        if data:
            self._feed(data)
        else:
            self.close()
        return len(data)


def discard(data: bytes) -> None:
    """Take it and keep nothing."""
