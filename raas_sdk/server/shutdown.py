"""Ending on SIGTERM or SIGINT: the first asks, the second ends the process at once, and so does the deadline."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stop_on_signals"]

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_on_signals(stopping: asyncio.Event, *, deadline_seconds: int) -> Iterator[None]:
    """Set `stopping` at the first signal. Must be entered on the main thread, inside the event loop.

    From then on signals have their default effect, and the kernel ends the process at the deadline even if a
    plugin blocks the event loop or leaves a thread behind. Whoever outlives that calls `signal.alarm(0)`.
    """
    loop = asyncio.get_running_loop()

    def first(number: int, frame: FrameType | None) -> None:
        for one in SIGNALS:
            signal.signal(one, signal.SIG_DFL)
        signal.alarm(deadline_seconds)
        loop.call_soon_threadsafe(stopping.set)

    before = {number: signal.signal(number, first) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
