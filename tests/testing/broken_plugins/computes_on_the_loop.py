"""Grades on the event loop, and grades long."""

import time

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


def laborious(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))


@hookimpl
async def raas_eval(job, trajectory):
    laborious(0.4)
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
