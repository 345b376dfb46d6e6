"""A task plugin for the server's tests: small tasks, one for each way a job can go."""

import asyncio
from pathlib import Path

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["echo", "endless", "endless_init", "endless_eval", "ungraded", "patch", "odd", "two_chats"]


@hookimpl
async def raas_init(job, host):
    if job.data_source == "endless_init":
        await asyncio.Event().wait()
    from raas_sdk import EmptyWorkspace

    return EmptyWorkspace()


@hookimpl
async def raas_run(job, workspace, policy):
    if job.data_source == "endless":
        await policy.conversation([{"role": "user", "content": "go"}]).sample()
        await asyncio.Event().wait()
    if job.data_source == "two_chats":
        return await _two_chats(policy)
    chat = policy.conversation([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}])
    first = await chat.sample()
    chat.append({"role": "tool", "content": "seen"}, {"role": "user", "content": "more"})
    second = await chat.sample()
    chat.append({"role": "user", "content": "thank you"})
    return {"git_patch": "diff"} if job.data_source == "patch" else {"said": [first.text, second.text]}


async def _two_chats(policy):
    for question in ("one", "two"):
        await policy.conversation([{"role": "user", "content": question}]).sample()
    return {"said": []}


@hookimpl
async def raas_eval(job, host, trajectory):
    if job.data_source == "endless_eval":
        await asyncio.Event().wait()
    if job.data_source == "ungraded":
        raise RuntimeError("the grader is out")
    said = trajectory.submission.get("said", [])
    return Reward(1.0 if job.instance.payload.get("gold", "yes") in said else 0.0)


@hookimpl
def raas_final_result(job, result):
    from dataclasses import replace

    if job.data_source == "odd":
        return replace(result, extra={"where": Path("/somewhere"), "text": "half \ud800", "number": float("nan")})
    return None
