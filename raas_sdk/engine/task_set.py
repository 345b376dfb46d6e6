"""Children of a long-lived owner: like a TaskGroup, but one child's fault or the owner's own never wraps another's."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

__all__ = ["TaskSet"]

log = logging.getLogger(__name__)


class TaskSet:
    """Use with `async with`: on the way out all children are cancelled and waited for."""

    def __init__(self) -> None:
        self._children: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            child.cancel()
        while self._children:
            await asyncio.wait(self._children)

    def create_task(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a child; a fault it does not handle itself is logged."""
        child = asyncio.get_running_loop().create_task(work)
        self._children.add(child)
        child.add_done_callback(self._ended)
        return child

    def _ended(self, child: "asyncio.Task[None]") -> None:
        self._children.discard(child)
        if not child.cancelled() and child.exception() is not None:
            log.error("a background task failed", exc_info=child.exception())
