"""Tasks for the server's cases. What a stage does is in the instance."""

import asyncio
import time
from pathlib import Path

from raas_sdk import Reward, WorkspaceFault, hookimpl

EVER = "ever"
CYCLE: list = []
CYCLE.append(CYCLE)
ODD = {
    "set": {1, 2},
    "bytes": b"\xff",
    "cycle": CYCLE,
    "path": Path("/nowhere"),
    "error": ValueError("x"),
    "surrogate": "half \ud800",
    "nan": float("nan"),
    "object": object(),
}


@hookimpl
def raas_data_sources():
    return ["steps"]


async def _act(job, stage):
    """Raise, wait or ignore cancels in this stage, as the instance says."""
    what = job.instance.payload.get(stage)
    if what == "raise":
        raise RuntimeError(f"{stage} went wrong")
    if what == "lost":
        raise WorkspaceFault("the sandbox is gone", retryable=False)
    if what == "full":
        raise OSError(28, "No space left on device")
    if what == EVER:
        await asyncio.Event().wait()
    if what == "stubborn":
        await _stubborn()
    if isinstance(what, int | float):
        await asyncio.sleep(what)


async def _stubborn():
    end = time.monotonic() + 2
    while (left := end - time.monotonic()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue


@hookimpl
async def raas_init(job):
    await _act(job, "init")
    from raas_sdk import EmptyWorkspace

    return EmptyWorkspace()


@hookimpl
async def raas_run(job, policy):
    talk = policy.conversation([{"role": "user", "content": "hi"}])
    for turn in range(job.instance.payload.get("turns", 1)):
        if turn:
            talk.append({"role": "user", "content": "more"})
        await talk.sample()
    await _act(job, "run")
    odd = job.instance.payload.get("returns")
    if odd == "coroutine":
        return asyncio.sleep(0)
    return ODD.get(odd, odd)


@hookimpl
async def raas_eval(job):
    await _act(job, "eval")
    payload = job.instance.payload
    if payload.get("grades") == "nothing":
        return None
    return Reward(payload.get("reward", 1.0), range=tuple(payload.get("range", (0, 1))))


@hookimpl
def raas_run_exception(job, error):
    if job.instance.payload.get("hook") == "raise":
        raise KeyError("the hook went wrong too")
    return None
