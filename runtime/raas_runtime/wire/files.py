"""Reading and writing regular files of the sandbox for a plugin. OSError says what is wrong with a path."""

import errno
import os
import stat
from pathlib import Path

from raas_runtime.wire.frames import MAX_BODY_BYTES

__all__ = ["read_file", "write_file"]


def read_file(path: str) -> bytes:
    """The bytes of a regular file; a FIFO or device is refused, since reading it could wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as source:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if status.st_size > MAX_BODY_BYTES:
            raise OSError(errno.EFBIG, f"{status.st_size} bytes are over the {MAX_BODY_BYTES} that fit one read", path)
        return source.read(MAX_BODY_BYTES)


def write_file(path: str, data: bytes) -> None:
    """Make the file and its folders, or replace what was in it."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(data)
