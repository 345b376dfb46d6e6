"""Starts a process that nobody ends."""

import subprocess

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


processes = []


@hookimpl
async def raas_eval(job, trajectory):
    processes.append(subprocess.Popen(["sleep", "60"]))
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
