"""What a sandbox holds on the host - a folder, a process, a connection - given back together, whatever happens."""

import asyncio
import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path

from raas_runtime.process import Process
from raas_runtime.sandbox.start_watch import StartWatch
from raas_runtime.uncut import to_its_end
from raas_runtime.wire.channel import Channel

__all__ = ["Holding"]

END_SECONDS = 2.0


class Holding:
    """Filled step by step while a sandbox starts; `give_back` returns whatever is there."""

    def __init__(self, runtime: str) -> None:
        self.name = f"{runtime}-{secrets.token_hex(6)}"
        self.folder = Path(tempfile.mkdtemp(prefix="raas-"))
        self.watch: StartWatch | None = None
        self.process: Process | None = None
        self.channel: Channel | None = None
        self._giving_back: asyncio.Task[None] | None = None

    @property
    def given_back(self) -> bool:
        """Whether giving back has begun."""
        return self._giving_back is not None

    async def give_back(self) -> None:
        """End the sandbox, wait until it is gone, remove its folder. A cancel waits for that, then goes on."""
        if self._giving_back is None:
            self._giving_back = asyncio.create_task(self._give_back(), name=f"close {self.name}")
        await to_its_end(self._giving_back)

    async def _give_back(self) -> None:
        try:
            await self._end()
            await asyncio.to_thread(remove_tree, self.folder)
        finally:
            self._drop()

    async def _end(self) -> None:
        """Ask the action server to end everything, then the outer processes; kill those where that does not help.

        Without a connection the whole group is killed at once: bubblewrap's inner process heeds nothing milder.
        """
        if self.channel is not None:
            if await self._gone():
                return
            if self.process is not None:
                self.process.terminate_group()
                if await self._gone():
                    return
        if self.process is not None:
            self.process.kill_group()
        await self._gone()

    async def _gone(self) -> bool:
        """Whether the sandbox has ended within a few seconds."""
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._its_end()
        except TimeoutError:
            return False
        return True

    async def _its_end(self) -> None:
        if self.channel is not None:
            await self.channel.finish()
        if self.process is not None:
            await self.process.wait()
        if self.watch is not None:
            self.watch.close()
            await self.watch.wait()

    def _drop(self) -> None:
        """What must happen even if the loop is being torn down around us; nothing where all went well."""
        if self.process is not None:
            self.process.kill_group()
        if self.watch is not None:
            self.watch.close()
        if self.channel is not None:
            self.channel.close()
        remove_tree(self.folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder with whatever is in it, also what its owner has locked."""
    shutil.rmtree(folder, onerror=unlock_and_retry)


def unlock_and_retry(act: object, path: str, error: object) -> None:
    """Open up the folder of an entry that could not be removed, and try that entry once more."""
    for locked in (os.path.dirname(path), path):
        with contextlib.suppress(OSError):
            if not os.path.islink(locked):
                os.chmod(locked, stat.S_IRWXU)
    with contextlib.suppress(OSError):
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
