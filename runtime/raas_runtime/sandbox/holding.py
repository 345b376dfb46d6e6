"""What a sandbox holds on the host - a folder, a process, a connection - given back together, whatever happens."""

import asyncio
import secrets
import tempfile
from pathlib import Path

from raas_runtime.process import Process
from raas_runtime.removal import remove_tree
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

    def remove_folder(self) -> None:
        """Remove the private folder with whatever is in it; nothing where it is gone."""
        remove_tree(self.folder)

    async def give_back(self) -> None:
        """End the sandbox, wait until it is gone, remove its folder. A cancel waits for that, then goes on."""
        if self._giving_back is None:
            self._giving_back = asyncio.create_task(self._give_back(), name=f"close {self.name}")
        await to_its_end(self._giving_back)

    async def _give_back(self) -> None:
        try:
            await self._end()
            await asyncio.to_thread(self.remove_folder)
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
        self.remove_folder()
