"""Data that a child reads from descriptors it inherits."""

import os
from contextlib import ExitStack

__all__ = ["Handed"]


class Handed:
    """Descriptors for one child; closed on this side with `opened`."""

    def __init__(self, opened: ExitStack) -> None:
        self._opened = opened
        self._descriptors: list[int] = []

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them, to be passed on."""
        return tuple(self._descriptors)

    def data(self, content: bytes) -> str:
        """The number of a descriptor from which the child reads `content`."""
        descriptor = os.memfd_create("handed", os.MFD_CLOEXEC)
        self._opened.callback(os.close, descriptor)
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        self._descriptors.append(descriptor)
        return str(descriptor)
