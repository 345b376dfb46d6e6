"""Whatever ends a sandbox, nothing of it is left: no process, no descriptor, no folder."""

import asyncio
import os
import random
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from raas_runtime import Bubblewrap, Local, SandboxClosed, SandboxDied, SandboxError, SandboxSpec, SandboxWorkspace

TOOL = "execute_ipython_cell"
SETTLE_SECONDS = 10
DAEMON = "import subprocess\nsubprocess.Popen(['setsid', 'sh', '-c', 'sleep 1000 & sleep 1000']).pid"


def descendants(pid: int) -> list[int]:
    found = [pid]
    for known in found:
        for listing in Path(f"/proc/{known}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, listing.read_text().split())
    return found


@contextmanager
def all_ending(*roots: int) -> Iterator[list[int]]:
    """Every process under the roots has ended soon after the block."""
    with ExitStack() as opened:
        handles = {}
        for pid in [pid for root in roots for pid in descendants(root)]:
            handles[os.pidfd_open(pid)] = pid
        for handle in handles:
            opened.callback(os.close, handle)
        yield list(handles.values())
        deadline = time.monotonic() + SETTLE_SECONDS
        while handles and time.monotonic() < deadline:
            for ended in select.select(list(handles), [], [], 0.2)[0]:
                del handles[ended]
        assert not handles, f"still running: {list(handles.values())}"


def open_descriptors() -> set[str]:
    return {
        os.readlink(f"/proc/self/fd/{name}")
        for name in os.listdir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{name}")
    }


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def start_daemon(workspace: SandboxWorkspace) -> None:
    """Something that has left the process group and the parent of the cell that started it."""
    started = await workspace.call(TOOL, {"code": DAEMON}, timeout=15)
    assert not started.error, started


async def test_close_leaves_nothing_and_may_be_repeated(runtime: Local | Bubblewrap, scratch: Path) -> None:
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
        await start_daemon(workspace)
        with all_ending(workspace.pid) as pids:
            assert len(pids) >= 5
            await workspace.close()
        await workspace.close()
        assert list(scratch.iterdir()) == []
        with pytest.raises(SandboxClosed, match=workspace.id):
            await workspace.call(TOOL, {"code": "1"}, timeout=5)


async def test_locked_folders_of_a_sandbox_are_removed_too(runtime: Local | Bubblewrap, scratch: Path) -> None:
    async with runtime.open_workspace(SandboxSpec(), tools=[]) as workspace:
        lock = "mkdir -p a/b && : > a/b/c && ln -s / a/root && chmod 000 a/b a"
        assert (await workspace.exec(["sh", "-c", lock], timeout=10)).exit_code == 0
    assert list(scratch.iterdir()) == []


async def test_a_killed_sandbox_fails_the_running_call_and_all_later_ones(
    runtime: Local | Bubblewrap, scratch: Path
) -> None:
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
        await start_daemon(workspace)
        running = asyncio.create_task(workspace.call(TOOL, {"code": "import time\ntime.sleep(100)"}, timeout=100))
        await workspace.exec(["true"], timeout=10)
        with all_ending(workspace.pid):
            os.kill(workspace.pid, signal.SIGKILL)
            with pytest.raises(SandboxDied) as died:
                await running
        assert (died.value.raas_kind, died.value.code, died.value.retryable) == ("infra", "sandbox_died", True)
        with pytest.raises(SandboxDied):
            await workspace.exec(["true"], timeout=10)
    assert list(scratch.iterdir()) == []


async def test_a_killed_action_server_ends_its_sandbox(runtime: Local | Bubblewrap, scratch: Path) -> None:
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
        await start_daemon(workspace)
        server = (await workspace.exec(["sh", "-c", "echo $PPID"], timeout=10)).stdout.decode().strip()
        with all_ending(workspace.pid):
            with pytest.raises(SandboxDied):
                await workspace.exec(["kill", "-9", server], timeout=10)
            await workspace.close()
    assert list(scratch.iterdir()) == []


async def test_a_stopped_action_server_does_not_hold_up_close(runtime: Local | Bubblewrap, scratch: Path) -> None:
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
        server = (await workspace.exec(["sh", "-c", "echo $PPID"], timeout=10)).stdout.decode().strip()
        stopping = asyncio.create_task(workspace.exec(["kill", "-STOP", server], timeout=10))
        while not any(is_stopped(pid) for pid in descendants(workspace.pid)):
            await asyncio.sleep(0.01)
        with all_ending(workspace.pid):
            await workspace.close()
        with pytest.raises(SandboxClosed):
            await stopping
    assert list(scratch.iterdir()) == []


async def test_a_killed_kernel_is_reported_and_replaced(workspace: SandboxWorkspace) -> None:
    kernel = (await workspace.call(TOOL, {"code": "import os\nkept = 1\nos.getpid()"}, timeout=15)).text
    running = asyncio.create_task(workspace.call(TOOL, {"code": "import time\ntime.sleep(100)"}, timeout=100))
    await workspace.exec(["sh", "-c", f"kill -9 {kernel}"], timeout=10)
    seen = await running
    assert seen.error
    assert "died of signal 9" in seen.text
    assert "variables and imports are lost" in seen.text
    after = await workspace.call(TOOL, {"code": "'kept' in globals()"}, timeout=15)
    assert (after.text, after.error) == ("False", False)


async def test_a_kernel_killed_between_cells_is_reported_to_the_next_cell(workspace: SandboxWorkspace) -> None:
    kernel = (await workspace.call(TOOL, {"code": "import os\nos.getpid()"}, timeout=15)).text
    await workspace.exec(["sh", "-c", f"kill -9 {kernel}"], timeout=10)
    seen = await workspace.call(TOOL, {"code": "open('ran', 'w')"}, timeout=15)
    assert seen.error
    assert "restarted" in seen.text
    assert (await workspace.call(TOOL, {"code": "1 + 1"}, timeout=15)).text == "2"


async def test_a_killed_zygote_is_replaced_with_its_kernel(workspace: SandboxWorkspace) -> None:
    zygote = (await workspace.call(TOOL, {"code": "import os\nos.getppid()"}, timeout=15)).text
    seen = await workspace.call(TOOL, {"code": f"os.kill({zygote}, 9)\nimport time\ntime.sleep(100)"}, timeout=15)
    assert seen.error
    assert "restarted" in seen.text
    assert (await workspace.call(TOOL, {"code": "1 + 1"}, timeout=15)).text == "2"


async def test_a_cancel_during_open_leaves_nothing(runtime: Local | Bubblewrap, scratch: Path) -> None:
    async def use() -> None:
        async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]):
            raise AssertionError("it opened before it was cancelled")

    for delay in (0, 0.01, 0.05, 0.1):
        task = asyncio.create_task(use())
        await asyncio.sleep(delay)
        with all_ending(*descendants(os.getpid())[1:]):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert list(scratch.iterdir()) == []


async def test_a_cancelled_call_interrupts_its_cell_and_keeps_the_session(workspace: SandboxWorkspace) -> None:
    await workspace.call(TOOL, {"code": "kept = 7"}, timeout=15)
    running = asyncio.create_task(workspace.call(TOOL, {"code": "while True: pass"}, timeout=100))
    await workspace.exec(["true"], timeout=10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await workspace.call(TOOL, {"code": "kept"}, timeout=15)).text == "7"


async def test_a_cell_cancelled_before_it_runs_is_interrupted_too(workspace: SandboxWorkspace) -> None:
    await workspace.call(TOOL, {"code": "kept = 7"}, timeout=15)
    for moment in range(10):
        running = asyncio.create_task(workspace.call(TOOL, {"code": "while True: pass"}, timeout=100))
        await asyncio.sleep(0.0003 * moment)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await workspace.call(TOOL, {"code": "kept"}, timeout=15)).text == "7"


async def test_an_error_in_the_block_leaves_nothing(runtime: Local | Bubblewrap, scratch: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
            ending = all_ending(workspace.pid)
            ending.__enter__()
            raise ZeroDivisionError
    ending.__exit__(None, None, None)
    assert list(scratch.iterdir()) == []


HOST = """
import asyncio, sys, tempfile
import raas_runtime
tempfile.tempdir = sys.argv[2]
async def main():
    runtime = getattr(raas_runtime, sys.argv[1])()
    async with runtime.open_workspace(raas_runtime.SandboxSpec(), tools=["ipython"]) as workspace:
        await workspace.call("execute_ipython_cell", {"code": sys.argv[3]}, timeout=15)
        print(workspace.pid, flush=True)
        await workspace.call("execute_ipython_cell", {"code": "while True: pass"}, timeout=100)
asyncio.run(main())
"""


async def test_a_killed_host_process_leaves_nothing(runtime: Local | Bubblewrap, tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, type(runtime).__name__, str(tmp_path), DAEMON, stdout=asyncio.subprocess.PIPE
    )
    assert host.stdout is not None
    assert (await host.stdout.readline()).strip().isdigit()
    with all_ending(host.pid) as pids:
        assert len(pids) >= 6
        host.kill()
        await host.wait()
    assert list(tmp_path.iterdir()) == []


HOST_THAT_STARTS = """
import asyncio, sys, tempfile
import raas_runtime
tempfile.tempdir = sys.argv[2]
async def main():
    print("starting", flush=True)
    async with getattr(raas_runtime, sys.argv[1])().open_workspace(raas_runtime.SandboxSpec(), tools=["ipython"]):
        await asyncio.sleep(100)
asyncio.run(main())
"""


def mentioning(text: str) -> list[str]:
    """The processes of this machine whose command line has a text."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if text in command.read_text(errors="replace"):
                found.append(command.parent.name)
    return found


async def test_a_host_killed_while_it_starts_a_sandbox_leaves_no_process(
    runtime: Local | Bubblewrap, tmp_path: Path
) -> None:
    arguments = [sys.executable, "-c", HOST_THAT_STARTS, type(runtime).__name__, str(tmp_path)]
    for moment in range(8):
        host = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
        assert host.stdout is not None
        await host.stdout.readline()
        await asyncio.sleep(0.005 * moment)
        host.kill()
        await host.wait()
    async with asyncio.timeout(SETTLE_SECONDS):
        while mentioning(str(tmp_path)):
            await asyncio.sleep(0.05)


async def test_many_workspaces_with_random_fates_leave_nothing(runtime: Local | Bubblewrap, scratch: Path) -> None:
    chance = random.Random(7)
    async with runtime.open_workspace(SandboxSpec(), tools=[]):
        pass
    before = open_descriptors()

    async def one(fate: int) -> None:
        tools = ["ipython"] if fate % 2 else []
        with suppress(SandboxError, asyncio.CancelledError):
            async with asyncio.timeout(100), runtime.open_workspace(SandboxSpec(), tools=tools) as workspace:
                match fate:
                    case 0 | 1:
                        await workspace.exec(["sh", "-c", "sleep 1000 & echo"], timeout=10)
                    case 2 | 3:
                        os.kill(workspace.pid, signal.SIGKILL)
                        await workspace.exec(["true"], timeout=10)
                    case 4 | 5:
                        asyncio.current_task().cancel()
                        await workspace.exec(["sleep", "1000"], timeout=1000)
                    case 6 | 7:
                        await workspace.close()

    for _ in range(2):
        await asyncio.gather(*(one(chance.randrange(8)) for _ in range(10)))
    with all_ending(*descendants(os.getpid())[1:]):
        pass
    assert list(scratch.iterdir()) == []
    assert open_descriptors() - before == set()
