"""What a plugin leaves behind: tasks on the loop, and traces in the process (children, files, environment)."""

import asyncio
import logging
import os
import signal
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raas_sdk.testing.conformance.inside import inside
from raas_sdk.testing.conformance.report import Findings

__all__ = ["ProcessTraces", "TaskWatch", "scratch_folder"]

END_SECONDS = 0.5
WATCHED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


class TaskWatch:
    """Knows every task that was started inside a hook and has not ended."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[Any], str] = {}
        self._patience = END_SECONDS

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running loop for the time inside."""
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()

        def make(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **more: Any) -> "asyncio.Task[Any]":
            made = asyncio.Task(work, loop=loop, **more) if before is None else before(loop, work, **more)
            task: asyncio.Task[Any] = made  # type: ignore[assignment]
            if inside.get():
                self._tasks[task] = inside.get()
                task.add_done_callback(self._ended)
            return task

        loop.set_task_factory(make)  # type: ignore[arg-type]
        try:
            yield
        finally:
            loop.set_task_factory(before)

    async def left(self) -> list[tuple[str, str]]:
        """(hook, what it runs) of the tasks that go on although their stage is over; they are cancelled."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=self._patience)
        found = dict(self._tasks)
        for task in found:
            task.cancel()
        if found:
            self._patience = 0.0  # one such task tells enough; the rest of the walk need not wait for each
            await asyncio.wait(set(found), timeout=END_SECONDS)
        self._tasks.clear()
        return [(hook, _work_of(task)) for task, hook in found.items()]

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.pop(task, None)
        if not task.cancelled():
            task.exception()


@dataclass(frozen=True, slots=True)
class ProcessTraces:
    """The state of this process that a plugin must leave as it was."""

    environment: dict[str, str]
    folder: str
    handlers: tuple[Any, ...]
    loggers: tuple[Any, ...]
    children: dict[int, str]
    files: dict[str, int]

    @classmethod
    def now(cls) -> "ProcessTraces":
        """As it is now."""
        return cls(
            environment=dict(os.environ),
            folder=os.getcwd(),
            handlers=tuple(signal.getsignal(number) for number in WATCHED_SIGNALS),
            loggers=tuple(logging.getLogger().handlers),
            children=_children(),
            files=_open_files(),
        )

    def note_import(self, later: "ProcessTraces", findings: Findings) -> None:
        """Note what importing the plugin, or a library of its, did to the environment."""
        changed = self._changed(later)
        if changed:
            advice = "do nothing at import; where it is a library's doing, it can stay"
            findings.warn("import", f"writes to the environment when it is imported: {changed}", advice)

    def compare(self, later: "ProcessTraces", findings: Findings) -> None:
        """Note what differs later, and put it right: the check itself leaves nothing behind."""
        self._compare_state(later, findings)
        left = {pid: command for pid, command in later.children.items() if pid not in self.children}
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if left:
            fault = f"leaves {len(left)} processes behind, such as {next(iter(left.values()))!r} (ended by the check)"
            findings.error("process", fault, "end what you start, in a finally or in raas_shutdown")
        for name, count in later.files.items():
            more = count - self.files.get(name, 0)
            if more > 0:
                fault = f"leaves {more} open file(s) or socket(s) behind: {name}"
                advice = "open with 'with', or close it in raas_shutdown"
                findings.warn("process", fault, advice) if more == 1 else findings.error("process", fault, advice)

    def _compare_state(self, later: "ProcessTraces", findings: Findings) -> None:
        changed = self._changed(later)
        if changed:
            advice = "hand values on as arguments; declare raas_settings for what is configured"
            findings.error("process", f"writes to the environment: {changed}", advice)
            os.environ.update({name: self.environment[name] for name in changed if name in self.environment})
            for name in changed:
                if name not in self.environment:
                    del os.environ[name]
        if self.folder != later.folder:
            findings.error("process", f"changes the working folder to {later.folder!r}", "use absolute paths")
            os.chdir(self.folder)
        if self.handlers != later.handlers:
            findings.error("process", "changes signal handlers", "leave signals to the service; use raas_shutdown")
            for number, handler in zip(WATCHED_SIGNALS, self.handlers, strict=True):
                signal.signal(number, handler)
        if self.loggers != later.loggers:
            findings.error("process", "configures logging", "log to host.log, and leave handlers to the service")
            logging.getLogger().handlers[:] = self.loggers

    def _changed(self, later: "ProcessTraces") -> list[str]:
        names = {*self.environment, *later.environment} - {"PYTEST_CURRENT_TEST"}
        return [name for name in sorted(names) if self.environment.get(name) != later.environment.get(name)]


@contextmanager
def scratch_folder(findings: Findings) -> Iterator[Path]:
    """A folder that is the place of temporary files for the time inside; what is left there is noted."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="raas-check-") as name:
        tempfile.tempdir = name
        try:
            yield Path(name)
        finally:
            tempfile.tempdir = before
            left = sorted(path.name for path in Path(name).iterdir())
            if left:
                findings.warn("process", f"leaves temporary files behind, such as {left[0]!r}", "delete what you make")


def _work_of(task: "asyncio.Task[Any]") -> str:
    work = task.get_coro()
    return str(getattr(work, "__qualname__", work))


def _children() -> dict[int, str]:
    """Living children of this process, with their command lines."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state not in "ZX":
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(place.name)] = command.strip()[:200]
    return found


def _open_files() -> dict[str, int]:
    """Open regular files, pipes and sockets of this process: how many of each."""
    found: dict[str, int] = {}
    for place in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            name = os.readlink(place)
            name = name.split(":")[0] if ":[" in name else name
            if not name.startswith(("/dev/", "anon_inode", "/proc/")):
                found[name] = found.get(name, 0) + 1
    return found
