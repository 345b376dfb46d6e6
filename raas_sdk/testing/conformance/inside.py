"""Which hook the code that runs now was called from."""

from contextvars import ContextVar

__all__ = ["inside"]

inside: ContextVar[str] = ContextVar("inside", default="")
"""The hook's name; tasks that a hook starts inherit it. Empty outside of all hooks."""
