"""What a plugin's hook gets from the engine: settings, sandboxes it does not have to close, grading, a log."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from raas_sdk.engine.belongings import Belongings
from raas_sdk.engine.graders import GraderPool
from raas_sdk.engine.owned_workspace import OwnedWorkspace, SoftEnd
from raas_sdk.engine.runtimes import RuntimeChooser
from raas_sdk.errors import PluginFault
from raas_sdk.workspace import SandboxSpec, Workspace

__all__ = ["HostServices", "KeepSandbox", "Labels", "PluginHost"]

KeepSandbox = Callable[[Workspace], Awaitable[None]]


@dataclass(slots=True)
class HostServices:
    """What all hosts of one engine share. `keep` is awaited before a sandbox is closed (for debugging)."""

    runtimes: RuntimeChooser
    graders: GraderPool
    keep: KeepSandbox | None = None


class Labels(NamedTuple):
    """What each event of a plugin's log carries."""

    plugin: str
    job_id: str
    stage: str


class PluginHost:
    """The host of one plugin, bound to a job's stage by `belongings` (None at start-up: no sandbox then)."""

    __slots__ = ("_belongings", "_labels", "_services", "_soft_end", "closed", "opened", "settings")

    def __init__(
        self,
        services: HostServices,
        *,
        settings: Any,
        labels: Labels,
        belongings: Belongings | None = None,
        soft_end: SoftEnd | None = None,
    ) -> None:
        self.settings = settings
        self.opened: list[OwnedWorkspace] = []
        self.closed = False
        self._labels = labels
        self._services = services
        self._belongings = belongings
        self._soft_end = soft_end or SoftEnd()

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose events carry plugin, job and stage."""
        return logging.LoggerAdapter(logging.getLogger("raas.plugin"), self._labels._asdict())

    async def open_workspace(self, spec: SandboxSpec | None = None, tools: Sequence[str] = ()) -> Workspace:
        """Open a sandbox owned by this job and stage."""
        if self._belongings is None:
            raise PluginFault("a sandbox belongs to a job: open it in raas_init, not at start-up", code="no_job")
        runtime = await self._services.runtimes.choose()
        self._check_open()
        opening = runtime.open_workspace(spec or SandboxSpec(), tools=tuple(tools))
        inner = await opening.__aenter__()
        try:
            self._check_open()
        except PluginFault:
            await opening.__aexit__(None, None, None)
            raise
        self._belongings.stack.push_async_exit(opening)
        workspace = OwnedWorkspace(inner, self._soft_end)
        if self._services.keep is not None:
            self._belongings.stack.push_async_callback(self._services.keep, workspace)
        self.opened.append(workspace)
        return workspace

    def _check_open(self) -> None:
        """A plugin that was left behind must not open what nobody would close."""
        if self.closed:
            raise PluginFault("the stage is over: no sandbox can be opened for it any more", code="stage_over")

    async def grade(self, fn: Callable[..., Any], *args: Any, seconds: float = 30.0, memory: int = 2**31) -> Any:
        """Run fn(*args) in a killable worker process."""
        return await self._services.graders.grade(fn, args, seconds=seconds, memory=memory)
