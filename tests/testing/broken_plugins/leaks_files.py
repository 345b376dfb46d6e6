"""Opens a file for each job and keeps it open."""

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    return {"letter": (await chat.sample()).text}


files = []


@hookimpl
async def raas_eval(job, trajectory):
    files.append(open(__file__, encoding="utf-8"))  # noqa: SIM115 - this is the fault
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
