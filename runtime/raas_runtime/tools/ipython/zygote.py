"""The action server's handle on the zygote process."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from typing import Any

from raas_runtime.process import Process
from raas_runtime.tools.ipython.kernel import Kernel
from raas_runtime.tools.session import ToolFault, ToolSetting

__all__ = ["Zygote"]

REPLY_BYTES = 1 << 16
BOOT = """
import json, sys
library, descriptor, output_chars, *preload = sys.argv[1:]
sys.path.insert(0, library)
from raas_runtime.tools.ipython.zygote_main import main
main(int(descriptor), library, output_chars=int(output_chars), preload=preload)
"""
# Threads of a linear-algebra library do not survive a fork.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "agg"}


class Zygote:
    """A process with IPython imported; `fork` gives a kernel."""

    def __init__(self, process: Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._turn = asyncio.Lock()

    @classmethod
    async def start(cls, setting: ToolSetting) -> "Zygote":
        """A ready zygote; ToolFault names a preload that cannot be imported."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(0)
        with theirs:
            arguments = [setting.library, str(theirs.fileno()), str(setting.output_chars), *setting.preload]
            process = setting.family.start(
                [sys.executable, "-I", "-X", "utf8", "-c", BOOT, *arguments],
                vital=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **ENVIRONMENT},
            )
        zygote = cls(process, ours)
        ready = await zygote._receive()
        if "fault" in ready:
            raise ToolFault(ready["fault"])
        return zygote

    async def fork(self) -> Kernel:
        """A fresh kernel; ConnectionError where the zygote is gone."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            async with self._turn:
                socket.send_fds(self._control, [b'{"op": "fork"}'], [theirs.fileno()])
                pid = (await self._receive())["pid"]
        return Kernel(pid, ours, zygote=self)

    async def reap(self, pid: int) -> int | None:
        """The exit code of a dead kernel, negative for a signal; None where the zygote is gone too."""
        try:
            async with self._turn:
                self._control.send(json.dumps({"op": "reap", "pid": pid}).encode())
                status = (await self._receive())["status"]
        except ConnectionError:
            return None
        return int(status)

    def close(self) -> None:
        """End it and, with it, its kernels."""
        self._control.close()
        self._process.kill()

    async def _receive(self) -> dict[str, Any]:
        data = await asyncio.get_running_loop().sock_recv(self._control, REPLY_BYTES)
        if not data:
            raise ConnectionResetError(f"the IPython zygote (pid {self._process.pid}) is gone")
        message = json.loads(data)
        return dict(message)
