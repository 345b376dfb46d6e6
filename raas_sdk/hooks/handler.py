"""A plugin as a class, for those who prefer one or port an existing agent handler."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.hooks.host import Host
from raas_sdk.job import Job
from raas_sdk.policy import Policy
from raas_sdk.result import Failure, Result
from raas_sdk.reward import Reward
from raas_sdk.trajectory import Trajectory
from raas_sdk.workspace import EmptyWorkspace, Workspace

__all__ = ["TaskHandler"]


class TaskHandler(ABC):
    """Subclass it, name `data_sources`, write `run` and `eval`; the other methods have defaults.

    `settings_model` is a pydantic model class, filled from `[plugins.NAME]` and handed back as `host.settings`.
    """

    data_sources: ClassVar[Sequence[str]] = ()
    settings_model: ClassVar[type[BaseModel] | None] = None

    async def startup(self, host: Host) -> None:
        """Open what is kept for the life of the engine."""
        return

    async def shutdown(self, host: Host) -> None:
        """Close what `startup` opened."""
        return

    async def init(self, job: Job, host: Host) -> Workspace:
        """Prepare the workspace; by default an empty one."""
        return EmptyWorkspace()

    @abstractmethod
    async def run(self, job: Job, host: Host, workspace: Workspace, policy: Policy) -> Any:
        """Let the policy work; return the submission."""

    @abstractmethod
    async def eval(self, job: Job, host: Host, trajectory: Trajectory) -> Reward:
        """Score the submission."""

    def init_exception(self, job: Job, error: Exception) -> Reward | Failure | None:
        """Decide what a failed INIT means; None for the default."""
        return None

    def run_exception(self, job: Job, error: Exception, trajectory: Trajectory) -> Reward | Failure | None:
        """Decide what a failed RUN means; None for the default."""
        return None

    def eval_exception(self, job: Job, error: Exception, trajectory: Trajectory) -> Reward | Failure | None:
        """Decide what a failed EVAL means; None for the default."""
        return None

    def final_result(self, job: Job, result: Result) -> Result | None:
        """Add to the result's `reward_parts` or `extra`; None leaves it alone."""
        return None

    @hookimpl
    def raas_data_sources(self) -> Sequence[str]:
        """See the hook."""
        return self.data_sources

    @hookimpl
    def raas_settings(self) -> type[BaseModel] | None:
        """See the hook."""
        return self.settings_model

    @hookimpl
    def raas_startup(self, host: Host) -> Awaitable[None]:
        """See the hook."""
        return self.startup(host)

    @hookimpl
    def raas_shutdown(self, host: Host) -> Awaitable[None]:
        """See the hook."""
        return self.shutdown(host)

    @hookimpl
    def raas_init(self, job: Job, host: Host) -> Awaitable[Workspace]:
        """See the hook."""
        return self.init(job, host)

    @hookimpl
    def raas_run(self, job: Job, host: Host, workspace: Workspace, policy: Policy) -> Awaitable[Any]:
        """See the hook."""
        return self.run(job, host, workspace, policy)

    @hookimpl
    def raas_eval(self, job: Job, host: Host, trajectory: Trajectory) -> Awaitable[Reward]:
        """See the hook."""
        return self.eval(job, host, trajectory)

    @hookimpl
    def raas_init_exception(self, job: Job, error: Exception) -> Reward | Failure | None:
        """See the hook."""
        return self.init_exception(job, error)

    @hookimpl
    def raas_run_exception(self, job: Job, error: Exception, trajectory: Trajectory) -> Reward | Failure | None:
        """See the hook."""
        return self.run_exception(job, error, trajectory)

    @hookimpl
    def raas_eval_exception(self, job: Job, error: Exception, trajectory: Trajectory) -> Reward | Failure | None:
        """See the hook."""
        return self.eval_exception(job, error, trajectory)

    @hookimpl
    def raas_final_result(self, job: Job, result: Result) -> Result | None:
        """See the hook."""
        return self.final_result(job, result)
