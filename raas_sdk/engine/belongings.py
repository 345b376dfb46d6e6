"""What one part of an attempt has opened, to be closed together on every path."""

from contextlib import AsyncExitStack

__all__ = ["Belongings"]


class Belongings:
    """An exit stack that is made when the first thing is put into it: most parts of most jobs open nothing."""

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        self._stack: AsyncExitStack | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to close."""
        return self._stack is None

    @property
    def stack(self) -> AsyncExitStack:
        """Where to put what must be closed."""
        if self._stack is None:
            self._stack = AsyncExitStack()
        return self._stack
