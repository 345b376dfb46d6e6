"""Waits for an answer without ever letting it come."""

import asyncio

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    asked = asyncio.ensure_future(chat.sample())
    while not asked.done():
        pass
    return {"letter": asked.result().text}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
