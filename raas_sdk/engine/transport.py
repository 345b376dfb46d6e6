"""How messages travel between gateway and engine: here, by direct call in one process."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from raas_sdk.engine.messages import Message, decode, encode

__all__ = ["Channel", "direct_channels"]

Receiver = Callable[[Message], None]


class Channel(Protocol):
    """One end of a two-way, ordered stream of messages."""

    def send(self, message: Message) -> None:
        """Hand a message to the other end; never blocks."""

    def on_message(self, receiver: Receiver) -> None:
        """Deliver what comes in to `receiver`, in order, on the event loop."""


class DirectEnd:
    """An end of a direct pair. Delivery is by the event loop, so neither side re-enters the other."""

    def __init__(self, *, coded: bool) -> None:
        self.peer: DirectEnd | None = None
        self._coded = coded
        self._receiver: Receiver | None = None
        self._early: deque[Message] = deque()

    def send(self, message: Message) -> None:
        assert self.peer is not None
        travelled = decode(encode(message)) if self._coded else message
        asyncio.get_running_loop().call_soon(self.peer._deliver, travelled)

    def on_message(self, receiver: Receiver) -> None:
        self._receiver = receiver
        while self._early:
            receiver(self._early.popleft())

    def _deliver(self, message: Message) -> None:
        if self._receiver is None:
            self._early.append(message)
        else:
            self._receiver(message)


def direct_channels(*, coded: bool = False) -> tuple[Channel, Channel]:
    """Make the two ends (gateway's, engine's); `coded` sends each message through msgpack and back."""
    one, other = DirectEnd(coded=coded), DirectEnd(coded=coded)
    one.peer, other.peer = other, one
    return one, other
