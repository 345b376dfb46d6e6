"""What the action server asks of a tool, and what it gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from raas_runtime.observation import Observation, Tool
from raas_runtime.wire.family import Family

__all__ = ["ToolFault", "ToolSession", "ToolSetting"]


class ToolFault(Exception):
    """A tool cannot start as asked; the text names what is wrong with the request."""


@dataclass(frozen=True, slots=True)
class ToolSetting:
    """What every tool of a sandbox is told at its start. `library` is the folder that holds raas_runtime."""

    family: Family
    library: str
    preload: tuple[str, ...]
    output_chars: int


class ToolSession(Protocol):
    """One tool's life in one sandbox."""

    tool: Tool

    async def start(self) -> None:
        """Get ready; ToolFault where the setting cannot be met."""

    async def call(self, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Act once; `arguments` fit the tool's schema. A cancel interrupts the action before it returns."""
