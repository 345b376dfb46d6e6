"""The commands: in this process where that is enough, as real processes where signals or terminals count."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from raas_sdk.cli import main
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens import load_renderer

END = load_renderer("test:chatml").stop_token_ids[0]
RAAS = (sys.executable, "-m", "raas_sdk")

PLUGIN = Path(__file__).with_name("task_plugin.py")


@pytest.fixture
def plugin() -> str:
    return str(PLUGIN)


@pytest.fixture
def raas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Run a command here, in an empty folder, with no settings but its flags."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("RAAS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))

    def run(*arguments: str, input: str | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), input=input)

    yield run


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write replies for --policy."""

    def write(content: str) -> str:
        path = tmp_path / "script.json"
        path.write_text(content)
        return f"scripted:{path}"

    return write


@pytest.fixture
async def backend() -> AsyncIterator[FakeBackend]:
    async with FakeBackend("prorl", script=[[*b"yes", END], [*b"no", END], [*b"well", END]]) as backend:
        yield backend


@pytest.fixture
async def start_service(plugin: str, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    """Start `raas serve` as a process of a session of its own; it has url and pid, and is killed at the end."""
    processes = []

    async def start(*flags: str) -> SimpleNamespace:
        command = (*RAAS, "serve", "--port", "0", "--plugin", plugin, "--no-entry-points", "--tokenizer", "test:chatml")
        process = await asyncio.create_subprocess_exec(
            *command, *flags, stdout=asyncio.subprocess.PIPE, cwd=tmp_path, start_new_session=True
        )
        processes.append(process)
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        return SimpleNamespace(process=process, url=line.split()[3], line=line)

    yield start
    for process in processes:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


@pytest.fixture
def family() -> Callable[[int], "set[tuple[int, str]]"]:
    """A process and all that descend from it, each as (pid, start time)."""

    def found(root: int) -> set[tuple[int, str]]:
        stats = {pid: stat for pid, stat in _stats() if stat[0] not in "ZX"}
        kin = {root}
        for _ in stats:
            more = {pid for pid, stat in stats.items() if int(stat[1]) in kin} - kin
            if not more:
                break
            kin |= more
        return {(pid, stats[pid][19]) for pid in kin if pid in stats}

    return found


@pytest.fixture
def alive() -> Callable[["set[tuple[int, str]]"], "set[tuple[int, str]]"]:
    """Which of these processes still live."""
    return lambda known: known & {(pid, stat[19]) for pid, stat in _stats() if stat[0] not in "ZX"}


def _stats() -> Iterator[tuple[int, list[str]]]:
    for place in Path("/proc").glob("[0-9]*"):
        try:
            yield int(place.name), (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue


@pytest.fixture
def unused_port_url() -> Iterator[str]:
    """A URL that refuses connections: its port is held, but nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"
