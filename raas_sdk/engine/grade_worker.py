"""The program of one grading worker: reads pickled calls from its standard input, answers on descriptor 3.

Run as a file (`python -P grade_worker.py FD`), so that starting it imports nothing else of the SDK. It ends when
its input does, so it never outlives the engine.
"""

import os
import pickle
import resource
import struct
import sys
from typing import Any, BinaryIO

__all__ = ["HEADER", "main", "read_frame", "write_frame"]

HEADER = struct.Struct("<cI")


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
    calls = sys.stdin.buffer
    with os.fdopen(int(sys.argv[1]), "wb") as answers:
        os.dup2(2, 1)
        while (frame := read_frame(calls)) is not None:
            _serve(frame[1], answers)


def _serve(payload: bytes, answers: BinaryIO) -> None:
    try:
        fn, args, memory = pickle.loads(payload)
        write_frame(answers, b"s", b"")
        value = _limited(fn, args, memory)
        write_frame(answers, b"r", pickle.dumps(value))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary: whatever it raised goes back as data
        write_frame(answers, b"e", pickle.dumps(f"{type(error).__name__}: {error}"[:4000]))


def _limited(fn: Any, args: tuple[Any, ...], memory: int) -> Any:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory, hard))
    try:
        return fn(*args)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main()
