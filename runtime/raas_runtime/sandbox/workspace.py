"""The workspace in a running sandbox: tools, commands, files; gone without a trace after `close()`."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from raas_runtime.errors import SandboxClosed, SandboxError
from raas_runtime.observation import ExecResult, Observation, Tool
from raas_runtime.sandbox.holding import Holding
from raas_runtime.wire.frames import Frame

__all__ = ["SandboxWorkspace"]

# An interrupt that is ignored, a kernel and perhaps its zygote to replace: all that may follow a timeout.
GRACE_SECONDS = 60.0
FILE_SECONDS = 60.0


class SandboxWorkspace:
    """What one job may use of one sandbox. Opened by a runtime's `open_workspace`.

    Everything but `close()` raises SandboxDied once the sandbox is gone, SandboxClosed after `close()`.
    """

    def __init__(self, holding: Holding, *, runtime: str, level: str, tools: tuple[Tool, ...]) -> None:
        self.id = holding.name
        self.runtime = runtime
        self.level = level
        self.tools = tools
        self._holding = holding

    @property
    def pid(self) -> int:
        """The sandbox's outer process on the host; killing it ends the sandbox."""
        assert self._holding.process is not None
        return self._holding.process.pid

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Have a tool act once, for at most `timeout` seconds; what the model is to see.

        A wrong name, wrong arguments, a failing or overlong action are observations with `error` set. A cancel
        interrupts the action. An action is never sent twice.
        """
        try:
            body = json.dumps(arguments).encode()
        except (TypeError, ValueError, RecursionError) as error:
            return Observation(f"{name}: the arguments must be plain JSON values: {error}", error=True)
        header = {"op": "call", "name": name, "timeout": timeout}
        frame = await self._request(header, body, patience=timeout + GRACE_SECONDS)
        return Observation(
            text=frame.body.decode("utf-8", "replace"),
            error=frame.header["error"],
            exit_code=frame.header["exit_code"],
            truncated=frame.header["truncated"],
            timed_out=frame.header["timed_out"],
        )

    async def exec(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"") -> ExecResult:
        """Run a command in the workspace's folder; killed with its process group after `timeout` seconds.

        FileNotFoundError, PermissionError and the like where it cannot be started.
        """
        header = {"op": "exec", "argv": list(argv), "timeout": timeout}
        frame = await self._request(header, stdin, patience=timeout + GRACE_SECONDS)
        cut = frame.header["stdout_bytes"]
        return ExecResult(
            exit_code=frame.header["exit_code"],
            stdout=frame.body[:cut],
            stderr=frame.body[cut:],
            timed_out=frame.header["timed_out"],
            truncated=frame.header["truncated"],
        )

    async def read(self, path: str) -> bytes:
        """The bytes of a file, relative to the workspace's folder; the usual OSError where it cannot be read."""
        return (await self._request({"op": "read", "path": os.fspath(path)}, patience=FILE_SECONDS)).body

    async def write(self, path: str, data: bytes) -> None:
        """Write a file and the folders to it; the usual OSError where that cannot be done."""
        await self._request({"op": "write", "path": os.fspath(path)}, data, patience=FILE_SECONDS)

    async def close(self) -> None:
        """End every process of the sandbox and give back its socket and folder; again: nothing."""
        await self._holding.give_back()

    async def _request(self, header: Mapping[str, Any], body: bytes = b"", *, patience: float) -> Frame:
        if self._holding.given_back:
            raise SandboxClosed(f"the {self.runtime} workspace {self.id!r} is closed; open another one")
        assert self._holding.channel is not None
        return checked(await self._holding.channel.request(header, body, patience=patience))


def checked(frame: Frame) -> Frame:
    """The answer, or the exception it stands for."""
    fault = frame.header.get("fault")
    if fault is not None:
        raise SandboxError(f"the action server failed: {fault}")
    os_error = frame.header.get("os_error")
    if os_error is not None:
        number, text, path = os_error
        raise OSError(number, text, path) if path is not None else OSError(number, text)
    return frame
