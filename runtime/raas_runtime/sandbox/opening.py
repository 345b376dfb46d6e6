"""How every runtime opens a sandbox: folder, listener, process, connection, tools, all by events."""

import asyncio
import os
import platform
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from raas_runtime.errors import SandboxDied, SandboxStartFailed, SandboxUnavailable, SpecRefused
from raas_runtime.observation import Tool
from raas_runtime.process import Process
from raas_runtime.sandbox.holding import Holding
from raas_runtime.sandbox.spec import SandboxSpec
from raas_runtime.sandbox.start_watch import StartWatch
from raas_runtime.sandbox.workspace import SandboxWorkspace
from raas_runtime.tools import KNOWN_TOOLS
from raas_runtime.tools.excerpt import Excerpt
from raas_runtime.wire.channel import Channel
from raas_runtime.wire.drain import Drain
from raas_runtime.wire.frames import Frame
from raas_runtime.wire.listener import Listener

__all__ = ["Launch", "Launcher", "open_sandbox"]

START_SECONDS = 120.0
COMPLAINT_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Launch:
    """The outer process to start.

    `rlimits` are set by the action server, under their names in `resource`. `watched`: it cannot look after itself
    before it has connected. `keeps_folder`: it works in its private folder, and removes it where the host is gone.
    """

    argv: tuple[str, ...]
    level: str
    rlimits: Mapping[str, int]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/"
    descriptors: tuple[int, ...] = ()
    watched: bool = False
    keeps_folder: bool = False


class Launcher(Protocol):
    """What a runtime brings."""

    name: ClassVar[str]

    async def launch(self, spec: SandboxSpec, *, folder: Path, opened: ExitStack) -> Launch:
        """How to start one whose private folder is `folder`; descriptors to hand over close with `opened`."""


@asynccontextmanager
async def open_sandbox(
    launcher: Launcher, spec: SandboxSpec, *, tools: Sequence[str]
) -> AsyncIterator[SandboxWorkspace]:
    """A workspace whose tools are ready; whatever was started is gone afterwards, however the block ends."""
    for key in tools:
        if key not in KNOWN_TOOLS:
            raise SpecRefused(f"no tool {key!r}; this runtime has {', '.join(KNOWN_TOOLS)}")
    if not hasattr(os, "pidfd_open"):
        raise SandboxUnavailable(f"{launcher.name} needs Linux 5.3 or newer; {platform.platform()} has no pidfd")
    holding = Holding(launcher.name)
    try:
        yield await start(launcher, SandboxSpec.of(spec), holding=holding, tools=tools)
    finally:
        await holding.give_back()


async def start(launcher: Launcher, spec: SandboxSpec, *, holding: Holding, tools: Sequence[str]) -> SandboxWorkspace:
    """Fill the holding and start the tools; SandboxStartFailed ends with what the sandbox wrote."""
    complaint = Excerpt(COMPLAINT_CHARS)
    with ExitStack() as opened:
        launch = await launcher.launch(spec, folder=holding.folder, opened=opened)
        with Listener(holding.folder) as listener:
            holding.watch = StartWatch() if launch.watched else None
            opened.callback(spawn(launch, holding, complaint=complaint).close)
            try:
                connection = await connection_of(listener, holding)
            except (TimeoutError, SandboxDied) as error:
                raise start_failed(holding, error, complaint=complaint) from error
            if holding.watch is not None:
                holding.watch.release()
        if not launch.keeps_folder:
            holding.remove_folder()  # so that not even a killed host leaves it
        holding.channel = await Channel.over(connection, owner=holding.name)
        try:
            ready = await holding.channel.request(start_header(spec, launch, tools=tools), patience=START_SECONDS)
        except SandboxDied as error:
            raise start_failed(holding, error, complaint=complaint) from error
    return SandboxWorkspace(holding, runtime=launcher.name, level=launch.level, tools=started_tools(ready))


def spawn(launch: Launch, holding: Holding, *, complaint: Excerpt) -> Drain:
    """Start the outer process; its standard error goes to `complaint` until the drain is closed."""
    read_end, write_end = os.pipe()
    drain = Drain(read_end, complaint.feed)
    watch = holding.watch
    place = {"start_new_session": True} if watch is None else {"process_group": watch.group}
    try:
        holding.process = Process(
            launch.argv,
            env=dict(launch.environment),
            cwd=launch.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=write_end,
            pass_fds=launch.descriptors,
            **place,
        )
    except OSError as error:
        drain.close()
        raise SandboxStartFailed(f"{launch.argv[0]!r} cannot be started: {error}") from error
    finally:
        os.close(write_end)
    return drain


async def connection_of(listener: Listener, holding: Holding) -> socket.socket:
    """The sandbox's connection; SandboxDied where it ends first, TimeoutError where neither happens."""
    assert holding.process is not None
    accepted = asyncio.create_task(listener.accept())
    ended = asyncio.create_task(holding.process.wait())
    try:
        async with asyncio.timeout(START_SECONDS):
            await asyncio.wait({accepted, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not accepted.done():
            raise SandboxDied(f"it ended with code {ended.result()} before it connected")
        return accepted.result()
    finally:
        accepted.cancel()
        ended.cancel()


def start_header(spec: SandboxSpec, launch: Launch, *, tools: Sequence[str]) -> dict[str, Any]:
    """The first request."""
    return {
        "op": "start",
        "tools": list(tools),
        "preload": list(spec.preload),
        "output_chars": spec.limits.output_chars,
        "limits": dict(launch.rlimits),
        "memory_bytes": spec.limits.memory_bytes,
    }


def started_tools(ready: Frame) -> tuple[Tool, ...]:
    """The tools in the action server's first answer, or the exception in it."""
    fault = ready.header.get("fault")
    if fault is not None and ready.header["refused"]:
        raise SpecRefused(f"the sandbox cannot be set up as asked: {fault}")
    if fault is not None or "tools" not in ready.header:
        raise SandboxStartFailed(f"the tools did not start: {fault or ready.header}")
    return tuple(Tool(**described) for described in ready.header["tools"])


def start_failed(holding: Holding, error: Exception, *, complaint: Excerpt) -> SandboxStartFailed:
    """The error with what the sandbox wrote about it."""
    reason = str(error) or f"it did not connect within {START_SECONDS:.0f} s"
    written = complaint.text().strip() or "nothing"
    return SandboxStartFailed(f"{holding.name} did not start: {reason}; it wrote: {written}")
