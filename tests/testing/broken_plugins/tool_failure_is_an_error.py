"""A tool that fails is the policy's business, not the plugin's."""

from raas_sdk import Reward, hookimpl


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
    seen = await workspace.call("bash", {"command": "true"}, timeout=5)
    if seen.error:
        raise RuntimeError("the tool failed")
    return {"letter": letter}


@hookimpl
async def raas_eval(job, trajectory):
    return Reward(float(trajectory.submission["letter"] == job.instance.payload["word"][0]))
