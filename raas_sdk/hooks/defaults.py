"""What happens for a hook that a task plugin leaves out. Asked last."""

from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.job import Job
from raas_sdk.workspace import EmptyWorkspace, Workspace

__all__ = ["NAME", "raas_init"]

NAME = "raas-defaults"


@hookimpl(trylast=True)
async def raas_init(job: Job) -> Workspace:
    """Give the job a workspace without sandbox and tools."""
    return EmptyWorkspace()
