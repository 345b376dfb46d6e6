"""What a process in a sandbox owes its descendants: adopt them, reap them, leave none behind."""

import ctypes
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raas_runtime.process import Process

__all__ = ["Family", "adopt_orphans", "children", "die_with_parent", "end_descendants", "hide", "show"]

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36


class Family:
    """The children this process started, told apart from the orphans it adopted."""

    def __init__(self) -> None:
        self._own: list[Process] = []
        self._vital: list[Process] = []

    def start(self, argv: Sequence[str], *, vital: bool = False, **options: Any) -> Process:
        """Start a child that its Process reaps; options are those of subprocess.Popen. `vital`: a tool needs it."""
        process = Process(argv, **options)
        self._own = [*running(self._own), process]
        self._vital = [*running(self._vital), *([process] if vital else [])]
        return process

    def vital_pids(self) -> set[int]:
        """The children that a tool cannot do without."""
        return {process.pid for process in running(self._vital)}

    def reap_orphans(self) -> None:
        """Reap adopted children that have ended; call it on SIGCHLD."""
        own = {process.pid for process in running(self._own)}
        for pid in children(os.getpid()):
            if pid not in own:
                os.waitpid(pid, os.WNOHANG)


def running(processes: list[Process]) -> list[Process]:
    """Those that have not ended."""
    return [process for process in processes if process.exit_code is None]


def adopt_orphans() -> None:
    """Make every orphaned descendant a child of this process instead of init's."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Get signal `number` when the parent ends, however it ends."""
    prctl(PR_SET_PDEATHSIG, number)


def hide() -> None:
    """Close this process's memory, descriptors and environment to others of the same user."""
    prctl(PR_SET_DUMPABLE, 0)


def show() -> None:
    """Undo `hide` (a fork inherits it), so that code which reads its own /proc works."""
    prctl(PR_SET_DUMPABLE, 1)


def children(pid: int) -> list[int]:
    """The live and zombie children of a process; none where it is gone."""
    found: list[int] = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, listing.read_text().split())
        except OSError:
            continue
    return found


def end_descendants() -> None:
    """SIGKILL and reap until this process has no child left. It must be a subreaper: orphans come to it."""
    while True:
        for pid in children(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def prctl(option: int, value: int) -> None:
    """The prctl call; OSError where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value}) was refused")
