"""What a plugin meets in place of an answer from a sandbox or a grading worker, while a check wants it so."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, Literal

from raas_sdk.engine.graders import GraderPool
from raas_sdk.testing.conformance.inside import inside, outside
from raas_sdk.workspace import ExecResult, Observation, Probe, Runtime, Tool, Workspace

__all__ = ["Trap", "TrappedGraders", "TrappedRuntime"]

Answer = Literal["hang"] | Exception | Observation


class Trap:
    """Counts what hooks ask for, as (hook, point) in `met`, and answers in its own way at the armed points.

    Points are open, call, exec, read, write and grade; `opened` counts sandboxes.
    """

    def __init__(self) -> None:
        self.met: Counter[tuple[str, str]] = Counter()
        self.opened = 0
        self._points: Collection[str] = ()
        self._answer: Answer = "hang"

    @contextmanager
    def armed(self, point: str, answer: Answer) -> Iterator[None]:
        """For the time inside, this point answers so: hangs, raises, or gives an observation."""
        self._points, self._answer = (point,), answer
        try:
            yield
        finally:
            self._points = ()

    async def meet(self, point: str) -> Observation | None:
        """Called before the real thing; what it returns stands in for it."""
        self.met[inside.get(), point] += 1
        if point not in self._points:
            return None
        if self._answer == "hang":
            await asyncio.Event().wait()
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer if isinstance(self._answer, Observation) else None


class TrappedRuntime:
    """Another runtime's sandboxes, behind a trap."""

    name = "checked"

    def __init__(self, inner: Runtime, trap: Trap) -> None:
        self._inner = inner
        self._trap = trap

    @property
    def level(self) -> str:
        """As the runtime behind it says."""
        return self._inner.level

    async def probe(self) -> Probe:
        """Ask the runtime behind it."""
        return await self._inner.probe()

    @asynccontextmanager
    async def open_workspace(self, spec: Any, *, tools: Sequence[str]) -> AsyncIterator[Workspace]:
        """Open a sandbox there."""
        await self._trap.meet("open")
        async with AsyncExitStack() as stack:
            with outside():
                inner = await stack.enter_async_context(self._inner.open_workspace(spec, tools=tools))
            self._trap.opened += 1
            yield TrappedWorkspace(inner, self._trap)


class TrappedWorkspace:
    """A sandbox behind a trap."""

    def __init__(self, inner: Workspace, trap: Trap) -> None:
        self.id, self.runtime, self.level = inner.id, inner.runtime, inner.level
        self.tools: Sequence[Tool] = inner.tools
        self._inner = inner
        self._trap = trap

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Call a tool, unless the trap answers."""
        seen = await self._trap.meet("call")
        with outside():
            return await self._inner.call(name, arguments, timeout=timeout) if seen is None else seen

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> ExecResult:
        """Run a command."""
        await self._trap.meet("exec")
        with outside():
            return await self._inner.exec(argv, timeout=timeout, stdin=stdin)

    async def read(self, path: str) -> bytes:
        """Read a file."""
        await self._trap.meet("read")
        with outside():
            return await self._inner.read(path)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        await self._trap.meet("write")
        with outside():
            await self._inner.write(path, data)

    async def close(self) -> None:
        """Close it."""
        await self._inner.close()


class TrappedGraders(GraderPool):
    """Real grading workers, behind a trap."""

    def __init__(self, size: int, trap: Trap) -> None:
        super().__init__(size)
        self._trap = trap

    async def grade(self, fn: Callable[..., Any], args: tuple[Any, ...], *, seconds: float, memory: int) -> Any:
        """Grade, unless the trap answers."""
        await self._trap.meet("grade")
        with outside():
            return await super().grade(fn, args, seconds=seconds, memory=memory)
