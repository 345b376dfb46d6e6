"""A workspace that answers from a table, to test a plugin's run without a sandbox."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raas_sdk.errors import WorkspaceFault
from raas_sdk.workspace import Observation, Tool

__all__ = ["Answer", "FakeExec", "FakeWorkspace", "RanCall"]

Answer = str | Observation | Exception
"""What a tool gives: text, an Observation, or an exception that stands for a broken sandbox."""


@dataclass(frozen=True, slots=True)
class RanCall:
    """A call as the workspace got it."""

    name: str
    arguments: Mapping[str, Any]
    timeout: float


@dataclass(frozen=True, slots=True)
class FakeExec:
    """The outcome of a command; fits `raas_sdk.workspace.ExecResult`."""

    exit_code: int | None = 0
    stdout: bytes = b""
    stderr: bytes = b""
    timed_out: bool = False
    truncated: bool = False


class FakeWorkspace:
    """Fits `raas_sdk.workspace.Workspace`. What was asked of it is kept in `calls`, `files` and `closed`.

    `answers` maps a tool's name to an answer or to a function of its arguments; `commands` answers exec.
    A name without an answer is an unknown tool; exec without `commands` and reading a file that was never
    written raise WorkspaceFault.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        answers: Mapping[str, Answer | Callable[[Mapping[str, Any]], Answer]] | None = None,
        *,
        files: Mapping[str, bytes] | None = None,
        commands: Callable[[Sequence[str], bytes], FakeExec] | None = None,
    ) -> None:
        self.id = "fake"
        self.runtime = "fake"
        self.level = "none"
        self.tools = tuple(tools)
        self.answers = dict(answers or {})
        self.files = dict(files or {})
        self.commands = commands
        self.calls: list[RanCall] = []
        self.closed = False

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Give the tool's answer, or raise it if it is an exception."""
        self.calls.append(RanCall(name, arguments, timeout))
        if name not in self.answers:
            return Observation(f"unknown tool {name!r}", error=True)
        answer = self.answers[name]
        given = answer(arguments) if callable(answer) else answer
        if isinstance(given, Exception):
            raise given
        return Observation(given) if isinstance(given, str) else given

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> FakeExec:
        """Ask `commands`."""
        if self.commands is None:
            raise WorkspaceFault(f"this fake runs no commands, not even {argv!r}; give it commands=")
        return self.commands(argv, stdin)

    async def read(self, path: str) -> bytes:
        """The bytes last written there."""
        if path not in self.files:
            raise WorkspaceFault(f"no file {path!r} in the fake workspace; it has {sorted(self.files)!r}")
        return self.files[path]

    async def write(self, path: str, data: bytes) -> None:
        """Keep the bytes."""
        self.files[path] = data

    async def close(self) -> None:
        """Mark it closed."""
        self.closed = True
