"""Telling listeners what happened: one call at a time, in a thread of their own, never on the hot path."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from raas_sdk.hooks import Listener, Plugins
from raas_sdk.hooks.validation import ANNOUNCEMENTS

__all__ = ["Announcements"]

log = logging.getLogger(__name__)

QUEUE_SIZE = 10_000


class Announcements:
    """A bounded queue of announcements; what does not fit is counted in `dropped`."""

    def __init__(self, plugins: Plugins, *, queue_size: int = QUEUE_SIZE) -> None:
        self._listeners = {hook: plugins.listeners(hook) for hook in ANNOUNCEMENTS}
        self._queue: deque[tuple[str, dict[str, Any]]] = deque()
        self._queue_size = queue_size
        self._news = asyncio.Event()
        self.dropped = 0
        self.failed = 0

    def wanted(self, hook: str) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners[hook])

    def say(self, hook: str, **facts: Any) -> None:
        """Queue an announcement; returns at once."""
        if not self._listeners[hook]:
            return
        if len(self._queue) >= self._queue_size:
            self.dropped += 1
            return
        self._queue.append((hook, facts))
        self._news.set()

    @asynccontextmanager
    async def speaking(self) -> AsyncIterator[None]:
        """Deliver announcements for the time inside."""
        speaker = asyncio.create_task(self._speak())
        try:
            yield
        finally:
            speaker.cancel()
            await asyncio.wait({speaker})

    async def _speak(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._queue:
                hook, facts = self._queue.popleft()
                for listener in self._listeners[hook]:
                    await asyncio.to_thread(self._call, listener, facts)

    def _call(self, listener: Listener, facts: dict[str, Any]) -> None:
        try:
            listener.hear(facts)
        except (Exception, SystemExit):
            self.failed += 1
            log.exception("a listener failed", extra={"plugin": listener.plugin})
