"""A child process held by handle: killed and awaited through its pidfd, never by name or a guessed pid."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

__all__ = ["Process"]


class Process:
    """A started child. Needs Linux 5.3 (pidfd) and a running event loop."""

    def __init__(self, argv: Sequence[str], **options: Any) -> None:
        """Start it; options are those of subprocess.Popen. OSError where the program cannot be run.

        It must lead a group of its own (start_new_session) or join one (process_group) if that is to be signalled.
        """
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[int] = self._loop.create_future()
        self._popen = subprocess.Popen(argv, **options)
        self._group: int = options.get("process_group") or self._popen.pid
        self._pidfd = os.pidfd_open(self._popen.pid)
        self._loop.add_reader(self._pidfd, self._reap)

    @property
    def pid(self) -> int:
        """Its process id; it may be reused once `exit_code` is not None."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative where a signal ended it."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.shield(self._exited)

    def terminate_group(self) -> None:
        """SIGTERM the process group it was started in; nothing where it has ended."""
        self._signal_group(signal.SIGTERM)

    def kill_group(self) -> None:
        """SIGKILL the process group it was started in; nothing where it has ended."""
        self._signal_group(signal.SIGKILL)

    def kill(self) -> None:
        """SIGKILL it alone; nothing where it has ended."""
        if self.exit_code is None:
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        if self.exit_code is None:  # not reaped, so the group is still its own
            os.killpg(self._group, number)

    def _reap(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        exit_code = self._popen.wait()
        if not self._exited.done():
            self._exited.set_result(exit_code)
