"""Which hook the code that runs now was called from."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["inside", "outside"]

inside: ContextVar[str] = ContextVar("inside", default="")
"""The hook's name; tasks that a hook starts inherit it. Empty outside of all hooks."""


@contextmanager
def outside() -> Iterator[None]:
    """What the service does for a hook is not the hook's own doing: not its task if it goes on."""
    token = inside.set("")
    try:
        yield
    finally:
        inside.reset(token)
