"""Tasks for the command's tests: one for each way a rollout can end."""

import asyncio

from raas_sdk import EmptyWorkspace, Reward, WorkspaceFault, hookimpl


@hookimpl
def raas_data_sources():
    return ["echo", "endless", "broken", "boxed", "lost"]


@hookimpl
async def raas_init(job, host):
    if job.data_source == "lost":
        raise WorkspaceFault("the node went away")
    return await host.open_workspace() if job.data_source == "boxed" else EmptyWorkspace()


@hookimpl
async def raas_run(job, host, workspace, policy):
    chat = policy.conversation([{"role": "user", "content": "say [bold]yes[/bold]"}])
    first = await chat.sample()
    if job.data_source == "endless":
        await asyncio.Event().wait()
    chat.append({"role": "user", "content": "and now?"})
    second = await chat.sample()
    await host.grade(len, [1])
    return {"said": [first.text, second.text]}


@hookimpl
async def raas_eval(job, host, trajectory):
    if job.data_source == "broken":
        raise RuntimeError("the grader is out")
    return Reward(float("yes" in trajectory.submission["said"]), parts={"polite": 0.5})
