"""What a format's reader finds before names and arguments are checked."""

from dataclasses import dataclass
from typing import Any

__all__ = ["RawCall", "RawError", "RawReply"]


@dataclass(frozen=True, slots=True)
class RawCall:
    """A decoded call: meant to be an object with `name` and `arguments`, which nobody has checked yet."""

    value: Any


@dataclass(frozen=True, slots=True)
class RawError:
    """A call that could not be read; the text is for the model."""

    text: str


@dataclass(frozen=True, slots=True)
class RawReply:
    """Content and calls of a reply, in order."""

    content: str
    parts: tuple[RawCall | RawError, ...]
