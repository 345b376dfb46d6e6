from raas_sdk import Reward, hookimpl


@hookimpl
def raas_data_sources():
    return ["first_letter"]


@hookimpl
async def raas_run(job, policy):
    word = job.instance.payload["word"]
    chat = policy.conversation([{"role": "user", "content": f"Say the first letter of {word!r}, nothing else."}])
    turn = await chat.sample()
    return {"letter": turn.text.strip()}


@hookimpl
async def raas_eval(job, trajectory):
    right = trajectory.submission["letter"] == job.instance.payload["word"][0]
    return Reward(1.0 if right else 0.0)
