"""Raises an error of its own, without the reason."""

from raas_sdk import BackendFault, Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    try:
        return {"letter": (await chat.sample()).text}
    except BackendFault:
        raise RuntimeError("no reply") from None


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
