"""What the service offers to a plugin while one of its hooks runs."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from raas_sdk.workspace import SandboxSpec, Workspace

__all__ = ["Host"]


class Host(Protocol):
    """The plugin's side of the engine, bound to one job and stage (or to none at start-up)."""

    @property
    def settings(self) -> Any:
        """The plugin's own settings: the model of `raas_settings`, or None."""

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose events carry plugin, job and stage."""

    async def open_workspace(self, spec: SandboxSpec | None = None, tools: Sequence[str] = ()) -> Workspace:
        """Open a sandbox owned by this job and stage; it is closed for you on every path."""

    async def grade(self, fn: Callable[..., Any], *args: Any, seconds: float = 30.0, memory: int = 2**31) -> Any:
        """Run `fn(*args)` in a worker process that is killed after `seconds` or beyond `memory` bytes.

        `fn`, its arguments and its result must be picklable. Raises GraderFault if it raised, hung or died.
        """
