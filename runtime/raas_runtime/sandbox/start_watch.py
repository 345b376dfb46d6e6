"""What ends a half-started sandbox when its host process is killed at that very moment.

bubblewrap ties its inner process to the outer one only after some setup; before that the inner one would wait for ever.
"""

import os
import subprocess

from raas_runtime.process import Process

__all__ = ["StartWatch"]

# `read` fails when the host's end of the pipe is closed without a line; 0 is the shell's own process group.
SCRIPT = "read started || kill -9 0"


class StartWatch:
    """A small shell that leads a process group and kills it if this process ends before `release`."""

    def __init__(self) -> None:
        read_end, self._write_end = os.pipe()
        try:
            self._shell = Process(
                ["/bin/sh", "-c", SCRIPT], stdin=read_end, stdout=subprocess.DEVNULL, env={}, cwd="/", process_group=0
            )
        except OSError:
            os.close(self._write_end)
            raise
        finally:
            os.close(read_end)
        self._open = True

    @property
    def group(self) -> int:
        """The process group to start the sandbox in."""
        return self._shell.pid

    def release(self) -> None:
        """The sandbox looks after itself from now on."""
        if self._open:
            os.write(self._write_end, b"started\n")
            self.close()

    def close(self) -> None:
        """End the watch; a sandbox that was not released is killed."""
        if self._open:
            self._open = False
            os.close(self._write_end)

    async def wait(self) -> None:
        """Wait until the shell has ended."""
        await self._shell.wait()
