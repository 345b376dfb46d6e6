"""Cannot be shut down when its start-up failed."""

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


opened = {}


@hookimpl
async def raas_startup(host):
    opened["cache"] = [1]


@hookimpl
async def raas_shutdown(host):
    opened.pop("cache").clear()


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
