"""A number is no Reward."""

from raas_sdk import hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(trajectory):
    return 1.0
