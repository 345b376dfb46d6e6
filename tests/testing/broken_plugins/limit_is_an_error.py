"""Turns the end of the turns into a fault of its own."""

from raas_sdk import LimitReached, Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    try:
        return {"letter": (await chat.sample()).text}
    except LimitReached:
        raise RuntimeError("the policy did not finish") from None


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
