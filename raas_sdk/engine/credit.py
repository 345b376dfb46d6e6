"""How many jobs an engine asks the gateway for: one for each free INIT slot, neither lost nor minted."""

from collections.abc import Callable

__all__ = ["CreditLine"]


class CreditLine:
    """Keeps what the gateway may send, and what it has sent and is still in INIT, at `size`.

    A smaller size or a drain takes nothing back: credit comes in again with the jobs it was used for.
    """

    def __init__(self, size: int, send: Callable[[int], None]) -> None:
        self._size = size
        self._send = send
        self._out = 0
        self._draining = False

    def settle(self) -> None:
        """Grant what is missing."""
        more = 0 if self._draining else self._size - self._out
        if more > 0:
            self._out += more
            self._send(more)

    def returned(self) -> None:
        """A job no longer holds its credit."""
        self._out -= 1
        self.settle()

    def resize(self, size: int) -> None:
        """Change how many jobs may be asked for."""
        self._size = size
        self.settle()

    def drain(self, on: bool) -> None:  # noqa: FBT001 - as in the message
        """Ask for no more jobs, or go on asking."""
        self._draining = on
        self.settle()
