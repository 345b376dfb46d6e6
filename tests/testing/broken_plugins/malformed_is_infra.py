"""Calls a malformed instance a fault of the machine."""

from raas_sdk import EmptyWorkspace, Reward, WorkspaceFault, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_init(job):
    if not isinstance(job.instance.payload.get("word"), str):
        raise WorkspaceFault("no word", retryable=False)
    return EmptyWorkspace()


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
