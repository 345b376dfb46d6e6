"""The key-value header of a GGUF file, read without numpy; tensors are left alone."""

import mmap
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raas_sdk.errors import SettingsInvalid

__all__ = ["read_metadata"]

MAGIC = b"GGUF"
VERSIONS = (2, 3)
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


def read_metadata(path: Path) -> dict[str, Any]:
    """Every key of the header with its value; arrays are lists. Raise SettingsInvalid for any other file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Cursor(content).header()
    except (OSError, ValueError, KeyError, struct.error) as error:
        fault = f"{str(path)!r} is not a readable GGUF file: {error or type(error).__name__}; fetch it again"
        raise SettingsInvalid(fault) from error


class _Cursor:
    """A place in the mapped file; every read moves it on and stays inside."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def header(self) -> dict[str, Any]:
        if self._bytes(len(MAGIC)) != MAGIC:
            raise ValueError("it does not start with 'GGUF'")
        (version,) = self._numbers("I", 1)
        if version not in VERSIONS:
            raise ValueError(f"its version {version} is none of {VERSIONS!r} in little-endian order")
        _, keys = self._numbers("Q", 2)
        return dict(self._pair() for _ in range(keys))

    def _pair(self) -> tuple[str, Any]:
        key = self._string()
        return key, self._value(self._kind())()

    def _value(self, kind: int) -> Callable[[], Any]:
        if kind == STRING:
            return self._string
        if kind == ARRAY:
            return self._array
        code = SCALARS[kind]
        return lambda: self._numbers(code, 1)[0]

    def _array(self) -> list[Any]:
        kind = self._kind()
        (count,) = self._numbers("Q", 1)
        if kind in SCALARS:
            return list(self._numbers(SCALARS[kind], count))
        read = self._value(kind)
        return [read() for _ in range(count)]

    def _kind(self) -> int:
        (kind,) = self._numbers("I", 1)
        return int(kind)

    def _string(self) -> str:
        (length,) = self._numbers("Q", 1)
        return self._bytes(length).decode("utf-8")

    def _numbers(self, code: str, count: int) -> tuple[Any, ...]:
        size = struct.calcsize(f"<{code}")
        return struct.unpack(f"<{count}{code}", self._bytes(count * size))

    def _bytes(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._content):
            raise ValueError("it ends in the middle of its header")
        taken = self._content[self._at : end]
        self._at = end
        return taken
