"""Sandboxes in memory: a runtime whose workspaces answer from a table."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from raas_sdk.testing.fake_workspace import Answer, FakeExec, FakeWorkspace
from raas_sdk.workspace import Tool

__all__ = ["FakeProbe", "FakeRuntime"]

Answers = Mapping[str, Answer | Callable[[Mapping[str, Any]], Answer]]
ANY_OBJECT = {"type": "object", "properties": {}, "additionalProperties": True}


@dataclass(frozen=True, slots=True)
class FakeProbe:
    """A runtime that always works."""

    available: bool = True
    reason: str = ""
    level: str = "none"


class FakeRuntime:
    """Fits `raas_sdk.workspace.Runtime`; `workspaces` holds every FakeWorkspace that was opened.

    A tool answers as `answers` says, else "ok"; `tools` gives the full description of those whose schema
    counts. Each workspace begins with a copy of `files`; a command does as `commands` says, else succeeds.
    """

    name = "fake"
    level = "none"

    def __init__(
        self,
        answers: Answers | None = None,
        *,
        tools: Sequence[Tool] = (),
        files: Mapping[str, bytes] | None = None,
        commands: Callable[[Sequence[str], bytes], FakeExec] | None = None,
    ) -> None:
        self.workspaces: list[FakeWorkspace] = []
        self._answers = dict(answers or {})
        self._tools = {tool.name: tool for tool in tools}
        self._files = dict(files or {})
        self._commands = commands or _succeed

    async def probe(self) -> FakeProbe:
        """It works everywhere."""
        return FakeProbe()

    @asynccontextmanager
    async def open_workspace(self, spec: Any, *, tools: Sequence[str]) -> AsyncIterator[FakeWorkspace]:
        """Open one; it is marked closed on the way out."""
        known = [self._tools.get(name) or Tool(name, f"a fake {name}", ANY_OBJECT) for name in tools]
        answers: dict[str, Any] = {**dict.fromkeys(tools, "ok"), **self._answers}
        workspace = FakeWorkspace(known, answers, files=self._files, commands=self._commands)
        workspace.id = f"fake-{len(self.workspaces)}"
        self.workspaces.append(workspace)
        try:
            yield workspace
        finally:
            await workspace.close()


def _succeed(argv: Sequence[str], stdin: bytes) -> FakeExec:
    return FakeExec()
