"""`raas submit`: against a real service; a second run goes on where the first ended."""

import asyncio
import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from raas_sdk.client import RolloutClient

TASKS = [{"data_source": "echo", "n": n} for n in range(3)]


@pytest.fixture
def tasks(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return path


@pytest.fixture(scope="module")
def service_url(tmp_path_factory):
    """One service for all tests here, over a fake inference server, as two processes."""
    folder, plugin = tmp_path_factory.mktemp("service"), Path(__file__).with_name("task_plugin.py")
    said = ("--wire", "prorl", "--tokenizer", "test:chatml", "--text", "yes", "--text", "no", "--text", "well")
    with _started("raas_sdk.testing.fake_backend", *said, folder=folder) as line:
        flags = ("--port", "0", "--no-entry-points", "--tokenizer", "test:chatml", "--plugin", str(plugin))
        with _started("raas_sdk", "serve", *flags, "--backend", line.split()[2], folder=folder) as line:
            yield line.split()[3]


@contextmanager
def _started(module, *arguments, folder):
    command = (sys.executable, "-m", module, *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        yield process.stdout.readline()
        process.terminate()


@pytest.fixture
def submit(raas, tasks, service_url):
    async def run(*flags, file=tasks):
        return await asyncio.to_thread(raas, "submit", str(file), "--server", service_url, *flags)

    return run


@pytest.fixture
async def finished(service_url):
    """How many jobs the service has ended."""

    async def count():
        async with RolloutClient(service_url) as client:
            return (await client.status())["finished"]

    return count


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_every_sample_is_written_and_a_second_run_asks_for_the_rest_only(submit, tasks, finished):
    out = tasks.with_suffix(".results.jsonl")
    first = await submit("-n", "2")
    assert first.exit_code == 0, first.output
    for shown in ("rollouts", "pass@1", "pass@2", "mean reward", "groups with mixed rewards", "INIT / RUN / EVAL"):
        assert shown in first.output
    before = await finished()
    assert (await submit("-n", "2")).exit_code == 0
    assert await finished() == before
    out.write_bytes(out.read_bytes()[:-20])
    assert (await submit("-n", "3")).exit_code == 0
    rows = lines(out)
    assert sorted((row["instance"]["n"], row["sample_index"]) for row in rows) == [
        (n, i) for n in range(3) for i in range(3)
    ]
    assert all(row["result"]["instance_digest"] == row["instance_digest"] for row in rows)
    assert all(row["result"]["group_id"] == row["instance_digest"][:32] for row in rows)


async def test_sampling_and_purpose_reach_the_service(submit, tmp_path):
    flags = ("--sampling", '{"top_p": 0.5}', "--sampling", "temperature=0.25", "--sampling", "max_turns=7")
    out = tmp_path / "o.jsonl"
    assert (await submit(*flags, "--purpose", "eval", "--out", str(out))).exit_code == 0
    results = [row["result"] for row in lines(out)]
    assert {(r["sampling"]["top_p"], r["sampling"]["temperature"], r["purpose"]) for r in results} == {
        (0.5, 0.25, "eval")
    }
    assert {r["sampling"]["limits"]["max_turns"] for r in results} == {7}
    refused = await submit("--out", str(out))
    assert (refused.exit_code, "other parameters" in refused.output) == (2, True)


async def test_failures_stand_apart_and_refusals_are_told(submit, tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"data_source": "broken"}\n{"data_source": "ecco"}\n{"data_source": "echo"}\n')
    result = await submit(file=path)
    assert result.exit_code == 1
    assert "1 rollouts were refused" in result.output
    assert "did you mean 'echo'" in result.output
    assert "without reward" in result.output
    assert {row["result"]["reward"] for row in lines(tmp_path / "mixed.results.jsonl")} >= {None}


async def test_another_run_name_samples_anew(submit, tmp_path):
    for name in ("one", "two"):
        assert (await submit("--run", name, "--out", str(tmp_path / f"{name}.jsonl"))).exit_code == 0
    ids = [{row["result"]["job_id"] for row in lines(tmp_path / f"{name}.jsonl")} for name in ("one", "two")]
    assert (len(ids[0]), len(ids[0] & ids[1])) == (3, 0)


async def test_a_service_that_is_not_there_is_explained(raas, tasks, unused_port_url):
    result = await asyncio.to_thread(raas, "submit", str(tasks), "--server", unused_port_url)
    assert (result.exit_code, "no answer from" in result.output) == (2, True)


async def test_the_client_runs_a_rollout_of_a_real_service(service_url):
    async with RolloutClient(service_url) as client:
        await client.wait_ready()
        assert (await client.health())["status"] == "ok"
        assert (await client.process({"instance": TASKS[0]}))["outcome"] == "scored"
        assert await client.cancel("nope") is False
        assert (await client.add_backend("http://127.0.0.1:9", pool="other"))["pool"] == "other"
