"""Telling listeners what happened: one call at a time, in a thread of their own, never on the hot path."""

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from raas_sdk.hooks import Listener, Plugins
from raas_sdk.hooks.containment import contained
from raas_sdk.hooks.validation import ANNOUNCEMENTS

__all__ = ["Announcements"]

log = logging.getLogger(__name__)

QUEUE_SIZE = 10_000
FAREWELL_SECONDS = 2.0
GATHER_SECONDS = 0.01
"""How long announcements are gathered before listeners hear them."""

Announcement = tuple[list["Ear"], dict[str, Any]]


class Announcements:
    """A bounded queue of announcements; what does not fit, or comes too late, is counted in `dropped`."""

    def __init__(self, plugins: Plugins, *, queue_size: int = QUEUE_SIZE) -> None:
        self._ears = {hook: [Ear(each) for each in plugins.listeners(hook)] for hook in ANNOUNCEMENTS}
        self._queue: deque[Announcement] = deque()
        self._bell: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._ringing: asyncio.TimerHandle | None = None
        self._queue_size = queue_size
        self._ended = threading.Event()
        self.dropped = 0
        self.failed = 0

    def wanted(self, hook: str) -> bool:
        """Whether anybody listens."""
        return bool(self._ears[hook])

    def say(self, hook: str, **facts: Any) -> None:
        """Queue an announcement; returns at once."""
        ears = self._ears[hook]
        if not ears:
            return
        if len(self._queue) >= self._queue_size:
            self.dropped += 1
            return
        self._queue.append((ears, facts))
        if self._ringing is None:
            self._ringing = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._ring)

    @asynccontextmanager
    async def speaking(self) -> AsyncIterator[None]:
        """Deliver announcements for the time inside, and those still queued if listeners are quick."""
        if not any(self._ears.values()):
            yield
            return
        # A daemon: a listener that never returns must not keep the process from ending.
        speaker = threading.Thread(target=self._speak, name="raas-announcements", daemon=True)
        speaker.start()
        try:
            yield
        finally:
            self._ring(more=False)
            await asyncio.to_thread(speaker.join, FAREWELL_SECONDS)
            self._ended.set()
            self._count_unheard()

    def _ring(self, *, more: bool = True) -> None:
        """Wake the speaker; once for many announcements, as each change of threads costs more than they do."""
        if self._ringing is not None:
            self._ringing.cancel()
            self._ringing = None
        self._bell.put(more)

    def _speak(self) -> None:
        more = True
        while more:
            more = self._bell.get()
            while not self._ended.is_set() and (announcement := self._next()) is not None:
                ears, facts = announcement
                for ear in ears:
                    self._call(ear, facts)

    def _next(self) -> Announcement | None:
        """The oldest announcement; both threads take from the queue, so it may be empty after all."""
        try:
            return self._queue.popleft()
        except IndexError:
            return None

    def _call(self, ear: "Ear", facts: dict[str, Any]) -> None:
        try:
            with ear.contained:
                ear.listener.hear(facts)
        except Exception:
            self.failed += 1
            log.exception("a listener failed", extra={"plugin": ear.listener.plugin})

    def _count_unheard(self) -> None:
        unheard = 0
        while self._next() is not None:
            unheard += 1
        if unheard:
            self.dropped += unheard
            log.error("a listener is too slow: announcements were not heard", extra={"unheard": unheard})


class Ear:
    """A listener, and what contains its faults."""

    __slots__ = ("contained", "listener")

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.contained = contained(f"a listener of plugin {listener.plugin!r}")
