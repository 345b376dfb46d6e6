"""A kernel's standard output and error, at the level of descriptors: Python, C code and child processes in one order.

Each cell brings its own pipe. What children of an earlier cell write goes to that cell's pipe; what threads of an
earlier cell print is shown under their name, so that it is not taken for the cell's own.
"""

import contextlib
import ctypes
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

__all__ = ["CellStream", "CellStreams"]


class CellStream(io.TextIOWrapper):
    """sys.stdout or sys.stderr of a kernel: every write reaches the descriptor at once."""

    def __init__(self, descriptor: int, streams: "CellStreams") -> None:
        raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115  it is this stream's own for good
        super().__init__(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
        self._streams = streams

    def write(self, text: str) -> int:
        """Write and flush; under its name where the caller is a thread that an earlier cell left behind."""
        label = self._streams.label() if text.strip() else ""
        super().write(f"{label}{text}")
        self.flush()
        return len(text)


class CellStreams:
    """Both streams; `over` points them at a cell's pipe for as long as the cell runs."""

    def __init__(self) -> None:
        self._nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._earlier: WeakSet[threading.Thread] = WeakSet()
        self._libc = ctypes.CDLL(None)
        self._out = CellStream(1, self)
        self._error = CellStream(2, self)

    def label(self) -> str:
        """What to put before the words of this thread; nothing where it is the running cell's own."""
        if not self._earlier or (thread := threading.current_thread()) not in self._earlier:
            return ""
        return f"[{thread.name} of an earlier cell] "

    @contextmanager
    def over(self, pipe: int) -> Iterator[None]:
        """Standard output and error go to `pipe`, which is then closed here; input is empty."""
        self._point_at(pipe)
        os.close(pipe)
        try:
            yield
        finally:
            self._flush()
            self._point_at(self._nowhere)
            self._earlier = WeakSet(threading.enumerate())
            self._earlier.discard(threading.main_thread())

    def _point_at(self, descriptor: int) -> None:
        os.dup2(self._nowhere, 0)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        if self._out.closed or self._error.closed:
            self._out, self._error = CellStream(1, self), CellStream(2, self)
        # A cell may have replaced them, and the next one should be seen all the same.
        sys.stdout, sys.stderr = self._out, self._error

    def _flush(self) -> None:
        for stream in (self._out, self._error):
            with contextlib.suppress(OSError, ValueError):  # a cell may have closed anything
                stream.flush()
        self._libc.fflush(None)
