"""Takes a limit for something that passes."""

from raas_sdk import LimitReached, Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    while True:
        try:
            return {"letter": (await chat.sample()).text}
        except LimitReached:
            continue


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
