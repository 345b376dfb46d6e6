"""One cell from hand-over to end: answered, interrupted, or with its kernel beyond use."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from raas_runtime.tools.ipython.kernel import Answer, Kernel
from raas_runtime.wire.drain import Drain

__all__ = ["CellEnd", "run_cell"]

INTERRUPT_SECONDS = 2.0


class CellEnd(NamedTuple):
    """How it ended. No answer: the kernel died or did not stop, and must be replaced."""

    answer: Answer | None
    timed_out: bool


async def run_cell(kernel: Kernel, code: str, *, deadline: float, feed: Callable[[bytes], None]) -> CellEnd:
    """Run it until `deadline` on the loop's clock, then interrupt it; `feed` gets its output as it comes.

    A cancel interrupts the cell too, and kills a kernel that does not stop, before it goes on its way.
    """
    read_end, write_end = os.pipe()
    output = Drain(read_end, feed)
    answer = asyncio.create_task(converse(kernel, code, pipe=write_end))
    try:
        timed_out = not await settled(kernel, answer, seconds=deadline - asyncio.get_running_loop().time())
        if timed_out:
            await stop(kernel, answer)
        return CellEnd(await result(answer), timed_out)
    except asyncio.CancelledError:
        await stop(kernel, answer)
        raise
    finally:
        answer.cancel()
        output.settle()


async def converse(kernel: Kernel, code: str, *, pipe: int) -> Answer:
    """Send the cell and receive its answer; the pipe's write end is the kernel's alone afterwards."""
    try:
        await kernel.send(code, pipe)
    finally:
        os.close(pipe)
    return await kernel.receive()


async def settled(kernel: Kernel, answer: asyncio.Task[Answer], *, seconds: float) -> bool:
    """Whether the answer came or the kernel died within so many seconds."""
    either: set[asyncio.Future[Any]] = {answer, kernel.death}
    done, _ = await asyncio.wait(either, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


async def stop(kernel: Kernel, answer: asyncio.Task[Answer]) -> None:
    """Interrupt the cell; kill the kernel and its group where that does not end it."""
    if not answer.done() and not kernel.death.done():
        kernel.interrupt()
        if not await settled(kernel, answer, seconds=INTERRUPT_SECONDS):
            kernel.kill()
            await kernel.death


async def result(answer: asyncio.Task[Answer]) -> Answer | None:
    """The answer, or None where the kernel gave none that can be read."""
    if not answer.done():
        return None
    try:
        return await answer
    except (EOFError, OSError, ValueError, RecursionError):
        return None
