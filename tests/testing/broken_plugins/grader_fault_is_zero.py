"""A dead grading worker earns the policy a zero."""

from raas_sdk import GraderFault, Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


@hookimpl
async def raas_eval(job, host, trajectory):
    try:
        letters = await host.grade(len, trajectory.submission["letter"])
    except GraderFault:
        return Reward(0.0)
    return Reward(float(letters == 1))
