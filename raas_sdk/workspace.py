"""The place where a rollout's tools work: what a plugin sees of a sandbox, and what a runtime must offer.

Sandboxes themselves live in runtime distributions, found by the entry-point group `raas.runtimes`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from raas_sdk.errors import WorkspaceFault

__all__ = [
    "Bind",
    "EmptyWorkspace",
    "ExecResult",
    "Observation",
    "Probe",
    "Runtime",
    "SandboxLimits",
    "SandboxSpec",
    "Tool",
    "Workspace",
    "is_workspace",
]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the model is told of it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool call gave. `error` marks a failure the model may react to, never a broken sandbox."""

    text: str
    error: bool = False
    exit_code: int | None = None
    truncated: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path shown inside the sandbox."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one sandbox may use; None leaves the runtime's own default."""

    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    disk_bytes: int | None = None
    open_files: int | None = None
    output_chars: int | None = None


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a plugin asks a runtime for. `python` None is the service's own interpreter, bound read-only."""

    rootfs: str | None = None
    image: str | None = None
    binds: tuple[Bind, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    preload: tuple[str, ...] = ()
    network: bool = False
    limits: SandboxLimits = field(default_factory=SandboxLimits)


class ExecResult(Protocol):
    """The outcome of a command run for the plugin."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def stdout(self) -> bytes: ...
    @property
    def stderr(self) -> bytes: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def truncated(self) -> bool: ...


@runtime_checkable
class Workspace(Protocol):
    """An open place to work in: tools for the model, files and commands for the plugin."""

    @property
    def id(self) -> str: ...
    @property
    def runtime(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def tools(self) -> Sequence[Any]: ...

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Any:
        """Run one tool call of the model; what comes back has the fields of Observation."""

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> ExecResult:
        """Run a command for the plugin."""

    async def read(self, path: str) -> bytes:
        """Return the bytes of a file in the workspace."""

    async def write(self, path: str, data: bytes) -> None:
        """Put a file into the workspace."""

    async def close(self) -> None:
        """End everything in it; calling it again does nothing."""


MEMBERS = tuple(name for name in vars(Workspace) if not name.startswith("_"))


def is_workspace(value: object) -> bool:
    """Whether it has all members of a Workspace; `isinstance` says the same and takes ten times as long."""
    return all([hasattr(value, name) for name in MEMBERS])


class Probe(Protocol):
    """What a runtime says of this machine."""

    @property
    def available(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def level(self) -> str: ...


class Runtime(Protocol):
    """A kind of sandbox. `level` names what it isolates."""

    @property
    def name(self) -> str: ...
    @property
    def level(self) -> str: ...

    async def probe(self) -> Probe:
        """Try it for real and say whether it works here, and what to do if not."""

    def open_workspace(self, spec: Any, *, tools: Sequence[str]) -> AbstractAsyncContextManager[Any]:
        """Open a sandbox with these tools; leaving the context ends everything in it."""


class EmptyWorkspace:
    """A workspace without sandbox and tools, for domains that need none."""

    id = "empty"
    runtime = "none"
    level = "none"
    tools: tuple[Tool, ...] = ()

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        return Observation(f"unknown tool {name!r}: this task has no tools", error=True)

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> ExecResult:
        raise WorkspaceFault(f"no sandbox to run {argv!r} in; open one in raas_init", retryable=False)

    async def read(self, path: str) -> bytes:
        raise WorkspaceFault(f"no sandbox to read {path!r} from; open one in raas_init", retryable=False)

    async def write(self, path: str, data: bytes) -> None:
        raise WorkspaceFault(f"no sandbox to write {path!r} to; open one in raas_init", retryable=False)

    async def close(self) -> None:
        return
