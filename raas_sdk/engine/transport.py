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
    """An end of a direct pair. Delivery is by the event loop, so neither side re-enters the other.

    What is sent in one turn of the loop arrives together in the next.
    """

    def __init__(self, *, coded: bool) -> None:
        self.peer: DirectEnd | None = None
        self._coded = coded
        self._receiver: Receiver | None = None
        self._inbox: deque[Message] = deque()
        self._awaited = False

    def send(self, message: Message) -> None:
        assert self.peer is not None
        travelled = decode(encode(message)) if self._coded else message
        self.peer._inbox.append(travelled)
        if not self.peer._awaited:
            self.peer._arrange()

    def on_message(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._deliver()

    def _arrange(self) -> None:
        self._awaited = True
        asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        """Hand on what has come; should the receiver raise, what follows still arrives."""
        self._awaited = False
        receiver, inbox = self._receiver, self._inbox
        if receiver is None:
            return
        try:
            while inbox:
                receiver(inbox.popleft())
        finally:
            if inbox:
                self._arrange()


def direct_channels(*, coded: bool = False) -> tuple[Channel, Channel]:
    """Make the two ends (gateway's, engine's); `coded` sends each message through msgpack and back."""
    one, other = DirectEnd(coded=coded), DirectEnd(coded=coded)
    one.peer, other.peer = other, one
    return one, other
