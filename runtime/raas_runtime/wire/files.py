"""Reading and writing regular files of the sandbox for a plugin. OSError says what is wrong with a path."""

import errno
import os
import stat
from pathlib import Path
from typing import IO

from raas_runtime.wire.frames import MAX_BODY_BYTES

__all__ = ["read_file", "write_file"]


def read_file(path: str) -> bytes:
    """The bytes of a regular file."""
    with open_regular(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, "rb") as source:
        size = os.fstat(source.fileno()).st_size
        if size > MAX_BODY_BYTES:
            raise OSError(errno.EFBIG, f"{size} bytes are over the {MAX_BODY_BYTES} that fit one read", path)
        return source.read(MAX_BODY_BYTES)


def write_file(path: str, data: bytes) -> None:
    """Make the file and its folders, or replace what was in it."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_CLOEXEC
    with open_regular(path, flags, "wb") as target:
        target.write(data)


def open_regular(path: str, flags: int, mode: str) -> IO[bytes]:
    """The opened file. A FIFO or device is refused: using it could wait for ever, and with it all requests."""
    descriptor = os.open(path, flags, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return open(descriptor, mode)
