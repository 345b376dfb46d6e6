"""The same submission gets another reward each time."""

import random

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(trajectory):
    return Reward(random.uniform(0.5, 1.0))
