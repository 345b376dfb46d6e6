"""Running a command in the sandbox for a plugin: argv in, exit code and bytes out."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from raas_runtime.observation import ExecResult
from raas_runtime.process import Process
from raas_runtime.wire.drain import Drain
from raas_runtime.wire.family import Family

__all__ = ["run_command"]

OUTPUT_BYTES = 16 << 20


@dataclass
class Kept:
    """The first 16 MiB of a stream."""

    data: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def feed(self, data: bytes) -> None:
        """Keep what still fits."""
        room = OUTPUT_BYTES - len(self.data)
        self.data += data[:room]
        self.truncated |= len(data) > room


async def run_command(family: Family, argv: Sequence[str], *, timeout: float, stdin: bytes) -> ExecResult:
    """Run it in a session of its own until it ends, or until `timeout`, when its process group is killed.

    What it leaves in the background goes on; the later output of that is dropped. OSError where it cannot start.
    """
    kept_out, kept_error = Kept(), Kept()
    with ExitStack() as opened:
        out = open_drain(opened, kept_out)
        error = open_drain(opened, kept_error)
        source = input_of(opened, stdin)
        process = family.start(argv, stdin=source, stdout=out.write_end, stderr=error.write_end, start_new_session=True)
    try:
        timed_out = not await ended(process, seconds=timeout)
    finally:
        process.kill_group()
    exit_code = await process.wait()
    for drain in (out.drain, error.drain):
        drain.settle()
    return ExecResult(
        exit_code=exit_code,
        stdout=bytes(kept_out.data),
        stderr=bytes(kept_error.data),
        timed_out=timed_out,
        truncated=kept_out.truncated or kept_error.truncated,
    )


class OutputPipe(NamedTuple):
    """The write end for a child, and what reads the other."""

    write_end: int
    drain: Drain


def open_drain(opened: ExitStack, kept: Kept) -> OutputPipe:
    """A pipe into `kept`; the write end closes with `opened`, the read end when its last writer is gone."""
    read_end, write_end = os.pipe()
    opened.callback(os.close, write_end)
    return OutputPipe(write_end, Drain(read_end, kept.feed))


def input_of(opened: ExitStack, data: bytes) -> int:
    """A descriptor from which a child reads `data` and then the end."""
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC)
    opened.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as sink:
        sink.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def ended(process: Process, *, seconds: float) -> bool:
    """Whether it ended by itself within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True
