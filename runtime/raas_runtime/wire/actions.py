"""What the host can ask of a sandbox: start its tools, call one, run a command, read and write a file."""

import json
from typing import Any

from raas_runtime.observation import Observation
from raas_runtime.tools import tool_session
from raas_runtime.tools.arguments import argument_fault
from raas_runtime.tools.session import ToolFault, ToolSession, ToolSetting
from raas_runtime.wire.command import run_command
from raas_runtime.wire.family import Family
from raas_runtime.wire.files import read_file, write_file
from raas_runtime.wire.frames import Frame

__all__ = ["Actions"]


class Actions:
    """Performs requests; a failed one is an answer too, never an exception."""

    def __init__(self, family: Family, library: str) -> None:
        self._family = family
        self._library = library
        self._tools: dict[str, ToolSession] = {}

    async def perform(self, frame: Frame) -> Frame:
        """The answer to one request. `os_error` or `fault` in its header: it failed."""
        act = {"start": self._start, "call": self._call, "exec": self._exec, "read": self._read, "write": self._write}
        try:
            return await act[frame.header["op"]](frame)
        except OSError as error:
            return Frame({"os_error": [error.errno, error.strerror or str(error), error.filename]})
        except ToolFault as error:
            return Frame({"fault": str(error), "refused": True})
        except Exception as error:  # noqa: BLE001  the boundary: the host decides what it means
            return Frame({"fault": f"{type(error).__name__}: {error}", "refused": False})

    async def _start(self, frame: Frame) -> Frame:
        setting = ToolSetting(
            family=self._family,
            library=self._library,
            preload=tuple(frame.header["preload"]),
            output_chars=frame.header["output_chars"],
        )
        for key in frame.header["tools"]:
            session = tool_session(key, setting)
            await session.start()
            self._tools[session.tool.name] = session
        return Frame({"tools": [describe(session) for session in self._tools.values()]})

    async def _call(self, frame: Frame) -> Frame:
        name, arguments = frame.header["name"], json.loads(frame.body)
        session = self._tools.get(name)
        if session is None:
            return observed(Observation(f"unknown tool {name!r}; there are: {self._names()}", error=True))
        fault = argument_fault(session.tool, arguments)
        if fault is not None:
            return observed(Observation(fault, error=True))
        return observed(await session.call(arguments, timeout=frame.header["timeout"]))

    async def _exec(self, frame: Frame) -> Frame:
        result = await run_command(
            self._family, frame.header["argv"], timeout=frame.header["timeout"], stdin=frame.body
        )
        header = {
            "exit_code": result.exit_code,
            "stdout_bytes": len(result.stdout),
            "timed_out": result.timed_out,
            "truncated": result.truncated,
        }
        return Frame(header, result.stdout + result.stderr)

    async def _read(self, frame: Frame) -> Frame:
        return Frame({}, read_file(frame.header["path"]))

    async def _write(self, frame: Frame) -> Frame:
        write_file(frame.header["path"], frame.body)
        return Frame({})

    def _names(self) -> str:
        return ", ".join(map(repr, self._tools)) or "none"


def describe(session: ToolSession) -> dict[str, Any]:
    """A tool's description for the wire."""
    tool = session.tool
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def observed(observation: Observation) -> Frame:
    """An observation for the wire: its text is the body."""
    header = {
        "error": observation.error,
        "exit_code": observation.exit_code,
        "truncated": observation.truncated,
        "timed_out": observation.timed_out,
    }
    return Frame(header, observation.text.encode("utf-8", "backslashreplace"))
