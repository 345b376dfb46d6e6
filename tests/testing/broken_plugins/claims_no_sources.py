"""Has stages, but says for which data nowhere."""

from raas_sdk import Reward, hookimpl


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
