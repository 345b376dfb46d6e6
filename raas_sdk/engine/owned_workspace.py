"""A sandbox owned by one job and stage: what the runtime gives, in the SDK's own words, stopped when RUN ends."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from raas_sdk.errors import LimitReached, PluginFault
from raas_sdk.workspace import ExecResult, Observation, Tool, Workspace

__all__ = ["OwnedWorkspace", "SoftEnd"]


class SoftEnd:
    """The end of a stage for what waits inside `bounded`: soft (LimitReached) or, when the stage is over, for good."""

    __slots__ = ("_waits", "closed", "reason")

    def __init__(self) -> None:
        self.reason: str | None = None
        self.closed = False
        self._waits: tuple[asyncio.Future[Any], ...] = ()

    def reach(self, reason: str) -> None:
        """End all bounded waits now with LimitReached, and refuse new ones."""
        self.reason = reason
        self._end_waits()

    def close(self) -> None:
        """The stage is over: what it left running ends now with PluginFault, and nothing new starts."""
        self.closed = True
        self._end_waits()

    async def bounded(self, work: Any) -> Any:
        """Await `work`; raise LimitReached or PluginFault if the end comes first (the work is cancelled)."""
        task = asyncio.ensure_future(work)
        if self.closed or self.reason is not None:
            task.cancel()
        self._waits += (task,)
        try:
            return await task
        except asyncio.CancelledError:
            self._explain()
            task.cancel()
            raise
        finally:
            self._waits = tuple(wait for wait in self._waits if wait is not task)

    def _explain(self) -> None:
        """Raise what ended the wait, if it was this and not a cancel of the waiter."""
        current = asyncio.current_task()
        if current is not None and current.cancelling():
            return
        if self.closed:
            raise PluginFault("the stage is over: its policy and sandbox cannot be used any more", code="stage_over")
        if self.reason is not None:
            raise LimitReached(self.reason) from None

    def _end_waits(self) -> None:
        for wait in self._waits:
            wait.cancel()


class OwnedWorkspace:
    """Wraps a runtime's workspace; counts the model's calls."""

    def __init__(self, inner: Workspace, soft_end: SoftEnd) -> None:
        self._inner = inner
        self._soft_end = soft_end
        self.tool_calls = 0
        self.tools: Sequence[Tool] = tuple(Tool(t.name, t.description, t.parameters) for t in inner.tools)

    @property
    def id(self) -> str:
        """The sandbox's name."""
        return self._inner.id

    @property
    def runtime(self) -> str:
        """The runtime's name."""
        return self._inner.runtime

    @property
    def level(self) -> str:
        """What the runtime isolates."""
        return self._inner.level

    @property
    def inner(self) -> Workspace:
        """The runtime's own workspace."""
        return self._inner

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Run one tool call of the model."""
        self.tool_calls += 1
        seen = await self._soft_end.bounded(self._inner.call(name, arguments, timeout=timeout))
        return Observation(seen.text, seen.error, seen.exit_code, seen.truncated, seen.timed_out)

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> ExecResult:
        """Run a command for the plugin (also while it hands in, after the soft end)."""
        return await self._inner.exec(argv, timeout=timeout, stdin=stdin)

    async def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return await self._inner.read(path)

    async def write(self, path: str, data: bytes) -> None:
        """Put a file."""
        await self._inner.write(path, data)

    async def close(self) -> None:
        """End everything in it."""
        await self._inner.close()
