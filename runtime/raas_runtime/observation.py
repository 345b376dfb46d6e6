"""What comes back from a sandbox: the observation of a tool call, the result of a command; and what a tool is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ExecResult", "Observation", "Tool"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model sees it; `parameters` is a JSON schema of one object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool call shows the model. `error`: the call failed; `truncated`: text was left out where it says so."""

    text: str
    error: bool = False
    exit_code: int | None = None
    truncated: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class ExecResult:
    """How a command ended. `exit_code` is negative for a signal; `truncated`: only 16 MiB of a stream were kept."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: bool = False
