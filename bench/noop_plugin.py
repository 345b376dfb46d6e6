"""A task that does nothing, with every hook that a job passes: what is left is the cost of moving it.

An instance with `hold` waits in RUN until its job is cancelled.
"""

import asyncio
from typing import Any

from raas_sdk import EmptyWorkspace, Job, Reward, Workspace, hookimpl

__all__ = [
    "raas_data_sources",
    "raas_eval",
    "raas_final_result",
    "raas_init",
    "raas_job_finished",
    "raas_job_started",
    "raas_run",
    "raas_run_exception",
    "raas_stage_finished",
    "raas_turn_finished",
]


@hookimpl
def raas_data_sources() -> list[str]:
    return ["noop"]


@hookimpl
async def raas_init() -> Workspace:
    return EmptyWorkspace()


@hookimpl
async def raas_run(job: Job) -> Any:
    if "hold" in job.instance.payload:
        await asyncio.get_running_loop().create_future()
    return "done"


@hookimpl
async def raas_eval() -> Reward:
    return Reward(1.0)


@hookimpl
def raas_run_exception() -> None:
    return None


@hookimpl
def raas_final_result() -> None:
    return None


@hookimpl
def raas_job_started() -> None:
    return None


@hookimpl
def raas_stage_finished() -> None:
    return None


@hookimpl
def raas_turn_finished() -> None:
    return None


@hookimpl
def raas_job_finished() -> None:
    return None
