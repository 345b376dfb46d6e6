"""A sandbox that died earns the policy a zero."""

from raas_sdk import Reward, WorkspaceFault, hookimpl


@hookimpl
def raas_data_sources():
    return ["broken"]


@hookimpl
async def raas_init(host):
    return await host.open_workspace(tools=["bash"])


@hookimpl
async def raas_run(job, workspace, policy):
    chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
    letter = (await chat.sample()).text
    try:
        await workspace.exec(["true"], timeout=5)
    except WorkspaceFault:
        letter = ""
    return {"letter": letter}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
