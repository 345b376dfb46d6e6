"""Grading in worker processes: bounded, killed in time, replaced, and never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from raas_sdk import GraderFault, Reward
from raas_sdk.engine.graders import GraderPool
from raas_sdk.hooks.discovery import find_candidates

GRADERS = """
import ctypes, os, pickle, subprocess, sys, time

def double(x): return 2 * x
def pid(): return os.getpid()
def raises(): raise ValueError("the gold answer is odd")
def exits(): sys.exit(3)
def leaves(): os._exit(7)
def crashes(): ctypes.string_at(0)
def hangs(): time.sleep(600)
def spins():
    while True: pass
def hangs_in_c():
    import re
    re.match(r"(a+)+$", "a" * 64 + "b")
def eats(n): return len(bytearray(n))
def prints():
    print("noise"); os.write(1, b"more noise"); return "quiet"
def unpicklable(): return lambda: 1
def only_here():
    class Local: pass
    return Local()
class Odd:
    def __reduce__(self): return (broken_load, ())
def broken_load():
    if "raas_tests_parent" in os.environ: raise RuntimeError("cannot be read")
def child():
    return subprocess.Popen(["sleep", "600"]).pid
def hangs_with_child(path):
    with open(path, "w") as out: out.write(str(child()))
    time.sleep(600)
"""
PLUGIN = """
from raas_sdk import Reward, hookimpl

def double(x): return 2 * x
@hookimpl
def raas_data_sources(): return ["graded"]
@hookimpl
async def raas_run(): return 21
@hookimpl
async def raas_eval(host, trajectory): return Reward(await host.grade(double, trajectory.submission) / 42)
"""


@pytest.fixture
def graders(tmp_path, settings_of):
    """The functions above, in a module that was loaded from a path as a plugin is."""
    path = tmp_path / "graders.py"
    path.write_text(GRADERS)
    (found,) = find_candidates(settings_of(plugin=(str(path),)))
    return found.load()


@pytest.fixture
async def pool():
    pool = GraderPool(2)
    yield pool
    await pool.close()
    assert not pool._idle and not pool._busy and pool._permits.held == 0


def grade(pool, fn, *args, seconds=20.0, memory=2**31):
    return pool.grade(fn, args, seconds=seconds, memory=memory)


async def gone(pid):
    """Return when a process that is no child of ours has ended."""
    while os.path.exists(f"/proc/{pid}") and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        await asyncio.sleep(0.01)


async def test_a_function_of_a_plugin_that_was_loaded_from_a_path_is_graded(pool, graders):
    assert await grade(pool, graders.double, 21) == 42


async def test_workers_are_kept_warm_and_no_more_than_the_size_of_the_pool(pool, graders):
    pids = await asyncio.gather(*(grade(pool, graders.pid) for _ in range(12)))
    assert len(set(pids)) <= 2
    assert await grade(pool, graders.pid) in pids


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("raises", "grader_raised", "ValueError: the gold answer is odd"),
        ("exits", "grader_raised", "SystemExit: 3"),
        ("leaves", "grader_died", "exit code 7"),
        ("crashes", "grader_died", "exit code -11"),
        ("hangs", "grader_timeout", "more than 0.2 s"),
        ("spins", "grader_timeout", "more than 0.2 s"),
        ("hangs_in_c", "grader_timeout", "more than 0.2 s"),
        ("unpicklable", "grader_raised", "pickle"),
        ("only_here", "grader_raised", "pickle"),
    ],
)
async def test_a_grader_that_fails_is_a_grader_fault_and_the_next_one_works(pool, graders, name, code, said):
    with pytest.raises(GraderFault, match=f"^{name}") as caught:
        await grade(pool, getattr(graders, name), seconds=0.2)
    assert caught.value.code == code and said in str(caught.value)
    assert await grade(pool, graders.double, 4) == 8


async def test_memory_beyond_the_limit_fails_the_call_only(pool, graders):
    with pytest.raises(GraderFault, match="MemoryError"):
        await grade(pool, graders.eats, 2**30, memory=2**29)
    assert await grade(pool, graders.eats, 2**10) == 2**10


async def test_what_cannot_be_sent_is_a_grader_fault_that_says_what_to_do(pool, graders):
    with pytest.raises(GraderFault, match="use a function of a module") as caught:
        await grade(pool, lambda: 1)
    assert caught.value.code == "grader_unpicklable"


async def test_a_result_that_cannot_be_read_is_a_grader_fault(pool, graders, monkeypatch):
    await grade(pool, graders.double, 1)  # the worker's environment is that of now
    monkeypatch.setenv("raas_tests_parent", "1")
    with pytest.raises(GraderFault, match="cannot be read here") as caught:
        await grade(pool, graders.Odd)
    assert caught.value.code == "grader_unpicklable"


async def test_what_a_grader_prints_does_not_disturb_its_answer(pool, graders):
    assert await grade(pool, graders.prints) == "quiet"


async def test_a_cancelled_call_kills_its_worker(pool, graders):
    (pid,) = {await grade(pool, graders.pid)}
    call = asyncio.create_task(grade(pool, graders.hangs, seconds=600))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gone(pid)
    assert await grade(pool, graders.double, 1) == 2


async def test_a_worker_killed_while_idle_costs_no_call(pool, graders):
    first = await pool.grade(graders.pid, (), seconds=30, memory=2**31)
    (worker,) = pool._idle
    os.kill(first, signal.SIGKILL)
    await worker.process.wait()
    assert await pool.grade(graders.pid, (), seconds=30, memory=2**31) != first


async def test_a_killed_grader_takes_along_what_it_started(pool, graders, tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(GraderFault):
        await grade(pool, graders.hangs_with_child, str(note), seconds=0.5)
    await gone(int(note.read_text()))


async def test_closing_ends_idle_and_busy_workers_and_refuses_more(graders):
    pool = GraderPool(2)
    idle = await grade(pool, graders.pid)
    busy = [asyncio.create_task(grade(pool, graders.hangs, seconds=600)) for _ in range(3)]
    await asyncio.sleep(0.2)
    await pool.close()
    faults = await asyncio.gather(*busy, return_exceptions=True)
    assert {fault.code for fault in faults} <= {"grader_died", "grader_closed"}
    await gone(idle)
    with pytest.raises(GraderFault):
        await grade(pool, graders.double, 1)


async def test_a_plugin_in_a_single_file_grades_with_its_own_functions(service, tmp_path):
    path = tmp_path / "graded.py"
    path.write_text(PLUGIN)
    async with service(plugin=(str(path),)) as s:
        assert (await s.result(source="graded")).reward == 1.0


async def test_a_grader_fault_is_a_task_error_of_eval(service, task, graders):
    async def evaluate(self, host):
        return Reward(await host.grade(graders.leaves))

    async with service(task(eval=evaluate)) as s:
        result = await s.result()
        assert (result.outcome, result.failure.code, result.reward) == ("task_error", "grader_died", None)


PARENT = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
import graders
from raas_sdk.engine.graders import GraderPool

async def main():
    pool = GraderPool(2)
    idle = await pool.grade(graders.pid, (), seconds=60, memory=2**31)
    hung = asyncio.create_task(pool.grade(graders.hangs, (), seconds=600, memory=2**31))
    other = asyncio.create_task(pool.grade(graders.pid, (), seconds=60, memory=2**31))
    print(idle, await other, flush=True)
    await hung

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process is killed with its parent on Linux only")
async def test_kill_9_of_the_engine_leaves_no_worker(graders, tmp_path):
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", textwrap.dedent(PARENT), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        os.kill(parent.pid, signal.SIGKILL)
    for pid in pids:
        await gone(pid)
