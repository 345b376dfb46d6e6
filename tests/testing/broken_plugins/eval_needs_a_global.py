"""Keeps what RUN found in a global, which the next job overwrites."""

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


last = {}


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    last["letter"] = (await chat.sample()).text
    return {}


@hookimpl
async def raas_eval(job):
    return Reward(float(last["letter"] == job.instance.payload["word"][0]))
