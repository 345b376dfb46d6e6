"""Work that must not be cut short by a cancel: the cancel waits, then goes on."""

import asyncio
from typing import TypeVar

__all__ = ["to_its_end"]

Result = TypeVar("Result")


async def to_its_end(task: asyncio.Task[Result]) -> Result:
    """The task's result. A cancel that comes meanwhile is raised once the task is done, never passed on to it."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
