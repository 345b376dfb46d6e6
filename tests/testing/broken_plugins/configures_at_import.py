"""Sets a variable for everybody as soon as it is imported."""

import os

from raas_sdk import Reward, hookimpl

os.environ["BROKEN_PLUGIN_MODE"] = "fast"


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
