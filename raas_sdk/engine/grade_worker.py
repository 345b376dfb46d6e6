"""The program of one grading worker: reads pickled calls from its standard input, answers on descriptor 3.

Run as a file (`python -P grade_worker.py FD PARENT`), so that starting it imports nothing else of the SDK. It ends
when its input does and is killed with its parent, so it never outlives the engine, even in the middle of a call.
"""

import ctypes
import os
import pickle
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from typing import Any, BinaryIO

__all__ = ["HEADER", "FileFinder", "main", "read_frame", "write_frame"]

HEADER = struct.Struct("<cI")
PR_SET_PDEATHSIG = 1


def read_frame(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """One (kind, payload), or None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, size = HEADER.unpack(header)
    payload = stream.read(size)
    return (kind, payload) if len(payload) == size else None


def write_frame(stream: BinaryIO, kind: bytes, payload: bytes) -> None:
    """Send one (kind, payload)."""
    stream.write(HEADER.pack(kind, len(payload)) + payload)
    stream.flush()


def main() -> None:
    """Serve calls one at a time: `s` started (imports are done), then `r` result or `e` error."""
    _die_with(int(sys.argv[2]))
    calls = sys.stdin.buffer
    with os.fdopen(int(sys.argv[1]), "wb") as answers:
        os.dup2(2, 1)
        while (frame := read_frame(calls)) is not None:
            _serve(frame[1], answers)


class FileFinder:
    """Finds modules that the engine loaded from a path of their own (name → file)."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The spec of one of these modules."""
        file = self._modules.get(name)
        return None if file is None else spec_from_file_location(name, file)


def _die_with(parent: int) -> None:
    """Be killed when the engine dies, also by kill -9 while a call hangs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def _serve(payload: bytes, answers: BinaryIO) -> None:
    try:
        modules, path, memory, call = pickle.loads(payload)
        sys.path[:] = path
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, FileFinder)]
        sys.meta_path.append(FileFinder(modules))
        fn, args = pickle.loads(call)
        write_frame(answers, b"s", b"")
        value = _limited(fn, args, memory)
        write_frame(answers, b"r", pickle.dumps(value))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary: whatever it raised goes back as data
        write_frame(answers, b"e", pickle.dumps(_told(error)))


def _told(error: BaseException) -> str:
    """The error and the innermost place it came from."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error}"[:4000] + f" ({frame.filename}:{frame.lineno} in {frame.name})"


def _limited(fn: Any, args: tuple[Any, ...], memory: int) -> Any:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory, hard))
    try:
        return fn(*args)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main()
