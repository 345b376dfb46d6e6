"""Keeps what RUN found under the job's name: stored work cannot be graded."""

from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


answers = {}


@hookimpl
async def raas_run(job, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    answers[job.job_id] = (await chat.sample()).text
    return {}


@hookimpl
async def raas_eval(job):
    return Reward(float(answers[job.job_id] == job.instance.payload["word"][0]))
