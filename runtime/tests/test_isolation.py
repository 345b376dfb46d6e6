"""What code in a bubblewrap sandbox cannot reach, tried from inside."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from raas_runtime import Bind, Bubblewrap, Limits, SandboxSpec, SandboxWorkspace

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOL = "execute_ipython_cell"
MIB = 1 << 20
ERRNO_OF = """
import errno, socket
def errno_of(act, *arguments):
    try:
        act(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def inside(bubblewrap: Bubblewrap) -> AsyncIterator[SandboxWorkspace]:
    limits = Limits(processes=40, disk_bytes=16 * MIB, file_bytes=8 * MIB)
    async with bubblewrap.open_workspace(SandboxSpec(limits=limits), tools=["ipython"]) as workspace:
        yield workspace


async def shell(workspace: SandboxWorkspace, script: str) -> str:
    result = await workspace.exec(["bash", "-c", script], timeout=20)
    return (result.stdout + result.stderr).decode()


async def cell(workspace: SandboxWorkspace, code: str) -> str:
    return (await workspace.call(TOOL, {"code": code}, timeout=20)).text


async def test_files_of_the_host_are_not_there(inside: SandboxWorkspace, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    secret.chmod(0o644)
    assert "No such file" in await shell(inside, f"cat {secret}")
    assert "No such file" in await shell(inside, f"cat /proc/1/root{secret} || ls /nowhere")
    assert (await shell(inside, "ls /etc/shadow /sys 2>&1 | grep -vc 'No such file'")).strip() == "0"
    # Python may live in a home, and is shown at its own path; nothing is beside it.
    shown = await shell(inside, "ls -A /home 2>/dev/null")
    assert set(shown.split()) <= {*Path(sys.prefix).parts, *Path(sys.base_prefix).parts}
    assert "sandbox" in await shell(inside, "cat /etc/passwd")


async def test_a_secret_of_the_host_is_in_no_environment(
    bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY_OF_HOST", "s3cret")
    async with bubblewrap.open_workspace(SandboxSpec(environment={"GIVEN": "yes"}), tools=["ipython"]) as workspace:
        seen = await shell(workspace, "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; env")
        assert "s3cret" not in seen
        assert "GIVEN=yes" in seen
        assert "s3cret" not in await cell(workspace, "import os\nprint(dict(os.environ))")


async def test_no_network_but_an_own_loopback(inside: SandboxWorkspace) -> None:
    await cell(inside, ERRNO_OF)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        host = listener.getsockname()
        assert await cell(inside, f"errno_of(socket.create_connection, {host!r}, 2)") == "'ECONNREFUSED'"
    assert await cell(inside, "errno_of(socket.create_connection, ('192.0.2.1', 80), 2)") == "'ENETUNREACH'"
    own = "s = socket.create_server(('127.0.0.1', 0))\nerrno_of(socket.create_connection, s.getsockname(), 2)"
    assert await cell(inside, own) == ""


async def test_abstract_sockets_of_the_host_are_out_of_reach(inside: SandboxWorkspace) -> None:
    await cell(inside, ERRNO_OF)
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        name = f"\0raas-test-{os.getpid()}"
        listener.bind(name)
        listener.listen()
        assert await cell(inside, f"errno_of(socket.socket(socket.AF_UNIX).connect, {name!r})") == "'ECONNREFUSED'"


async def test_only_three_folders_are_writable(inside: SandboxWorkspace) -> None:
    script = (
        "for d in $(find / -xdev -type d 2>/dev/null) /dev /dev/shm /tmp /workspace /run /proc/sys/kernel; do"
        " (: > $d/.probe) 2>/dev/null && echo $d; done; true"
    )
    assert sorted(set((await shell(inside, script)).split())) == ["/dev/shm", "/tmp", "/workspace"]


async def test_processes_of_the_host_are_neither_seen_nor_signalled(inside: SandboxWorkspace) -> None:
    pids = [int(pid) for pid in (await shell(inside, "cd /proc; echo [0-9]*")).split()]
    assert len(pids) < 10
    assert "No such process" in await shell(inside, f"kill -0 {os.getpid()}")


async def test_the_action_server_cannot_be_looked_into(inside: SandboxWorkspace) -> None:
    each = "for f in environ maps mem fd/0 fd/3; do cat /proc/$PPID/$f >/dev/null && echo READ; done"
    seen = await shell(inside, each)
    assert "READ" not in seen
    assert "Permission denied" in seen


PROBE = """
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *[ctypes.c_long(a) for a in arguments])
    return errno.errorcode.get(ctypes.get_errno(), 'done') if result < 0 else 'done'
calls = {'ptrace': (101, 0, 0, 0, 0), 'unshare': (272, 0x10000000), 'mount': (165, 0, 0, 0, 0, 0), 'setns': (308, 0, 0),
    'bpf': (321, 0, 0, 0), 'io_uring': (425, 1, 0), 'keyctl': (250, 0, 0, 0), 'userfaultfd': (323, 0),
    'pidfd_getfd': (438, 0, 0, 0), 'process_vm_readv': (310, 1, 0, 0, 0, 0, 0),
    'clone_newuser': (56, 0x10000011, 0, 0, 0, 0),
    'vsock': (41, 40, 1, 0), 'tiocsti': (16, 0, 0x5412, 0), 'clone3': (435, 0, 0), 'x32': (0x40000000 + 39,)}
status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())
shown = {k: status[k].strip() for k in ('CapEff', 'NoNewPrivs', 'Seccomp', 'Uid')}
print(json.dumps({n: call(*c) for n, c in calls.items()} | shown))
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the system-call filter is for x86_64")
async def test_dangerous_system_calls_are_refused(inside: SandboxWorkspace) -> None:
    seen = json.loads(await cell(inside, PROBE))
    assert seen.pop("clone3") == "ENOSYS"
    assert seen.pop("Uid").split()[0] != "0"
    assert seen.pop("CapEff") == "0000000000000000"
    assert (seen.pop("NoNewPrivs"), seen.pop("Seccomp")) == ("1", "2")
    assert set(seen.values()) == {"EPERM"}, seen
    assert "syscalls" in inside.level.split(",")


FORKS = """
import os, signal, time
made = []
try:
    while len(made) < 200:
        pid = os.fork()
        if pid == 0:
            time.sleep(100)
            os._exit(0)
        made.append(pid)
except OSError as error:
    print(type(error).__name__)
for pid in made:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
print(20 < len(made) < 41)
"""


async def test_a_fork_bomb_stops_at_the_limit(inside: SandboxWorkspace) -> None:
    assert await cell(inside, FORKS) == "BlockingIOError\nTrue\n"


async def test_disk_and_file_size_are_limited(inside: SandboxWorkspace) -> None:
    for folder in ("/workspace", "/tmp"):
        script = f"for i in 1 2 3; do head -c 7M /dev/zero > {folder}/$i || echo full; done; rm -f {folder}/[123]"
        assert "No space left" in await shell(inside, script)
    await cell(inside, ERRNO_OF)
    assert await cell(inside, "errno_of(open('big', 'wb').write, bytes(9 << 20))") == "'EFBIG'"


HOGS = """
import os, subprocess, sys
hog = "import time; held = bytearray(b'x') * (150 << 20); time.sleep(60)"
hogs = [subprocess.Popen([sys.executable, "-c", hog]) for _ in range(4)]
_, status = os.wait()
os.waitstatus_to_exitcode(status)
"""


async def test_memory_of_all_processes_together_is_limited(bubblewrap: Bubblewrap) -> None:
    spec = SandboxSpec(limits=Limits(memory_bytes=400 * MIB))
    async with bubblewrap.open_workspace(spec, tools=["ipython"]) as workspace:
        assert await cell(workspace, HOGS) == "-9"


async def test_a_bind_is_shown_read_only_unless_asked(bubblewrap: Bubblewrap, tmp_path: Path) -> None:
    given, taken = tmp_path / "given", tmp_path / "taken"
    given.mkdir()
    taken.mkdir()
    (given / "data").write_text("here")
    tmp_path.chmod(0o755)
    taken.chmod(0o777)
    binds = (Bind(str(given), "/data/in"), Bind(str(taken), "/data/out", read_only=False))
    async with bubblewrap.open_workspace(SandboxSpec(binds=binds), tools=[]) as workspace:
        assert await shell(workspace, "cat /data/in/data; echo back > /data/out/result") == "here"
        assert "Read-only" in await shell(workspace, "echo no > /data/in/other")
    assert (taken / "result").read_text() == "back\n"


async def test_two_sandboxes_do_not_see_each_other(bubblewrap: Bubblewrap) -> None:
    async with (
        bubblewrap.open_workspace(SandboxSpec(), tools=[]) as one,
        bubblewrap.open_workspace(SandboxSpec(), tools=[]) as other,
    ):
        await asyncio.gather(one.write("/tmp/mine", b"1"), one.write("/dev/shm/mine", b"1"), one.write("mine", b"1"))
        assert await shell(other, "ls /tmp/mine /dev/shm/mine mine 2>/dev/null; pgrep -c python") == "1\n"


async def test_a_network_that_was_asked_for_is_the_hosts_and_is_said(bubblewrap: Bubblewrap) -> None:
    async with bubblewrap.open_workspace(SandboxSpec(network=True), tools=["ipython"]) as workspace:
        await cell(workspace, ERRNO_OF)
        with closing(socket.create_server(("127.0.0.1", 0))) as listener:
            assert await cell(workspace, f"errno_of(socket.create_connection, {listener.getsockname()!r}, 2)") == ""
        assert "network" not in workspace.level.split(",")
        assert "network" in bubblewrap.level.split(",")
