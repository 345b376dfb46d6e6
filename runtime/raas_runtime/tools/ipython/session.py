"""The tool `execute_ipython_cell`: one kernel at a time, replaced when it dies or cannot be interrupted."""

import asyncio
from collections.abc import Mapping
from typing import Any

from raas_runtime.observation import Observation, Tool
from raas_runtime.tools.excerpt import Excerpt
from raas_runtime.tools.ipython.cell import CellEnd, run_cell
from raas_runtime.tools.ipython.kernel import Kernel
from raas_runtime.tools.ipython.zygote import Zygote
from raas_runtime.tools.session import ToolSetting
from raas_runtime.uncut import to_its_end

__all__ = ["IPython"]

LOST = "its variables and imports are lost"


class IPython:
    """Cells of one IPython session. Calls run one after the other; waiting counts towards a call's timeout."""

    tool = Tool(
        name="execute_ipython_cell",
        description=(
            "Run a cell of Python code in an IPython session and return its output. "
            "Variables and imports persist between calls; magics and `!` shell lines work."
        ),
        parameters={
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The Python code of the cell"}},
            "required": ["code"],
            "additionalProperties": False,
        },
    )

    def __init__(self, setting: ToolSetting) -> None:
        self._setting = setting
        self._turn = asyncio.Lock()
        self._zygote: Zygote
        self._kernel: Kernel

    async def start(self) -> None:
        """Import everything and fork the first kernel; ToolFault where a preload cannot be imported."""
        self._zygote = await Zygote.start(self._setting)
        self._kernel = await self._zygote.fork()

    async def call(self, arguments: Mapping[str, Any], *, timeout: float) -> Observation:
        """Run `code`; what it wrote and its last value as text."""
        deadline = asyncio.get_running_loop().time() + timeout
        try:
            async with asyncio.timeout_at(deadline):
                await self._turn.acquire()
        except TimeoutError:
            text = f"[not run: an earlier cell was still running after {timeout:g} s]"
            return Observation(text, error=True, timed_out=True)
        try:
            return await self._run(arguments["code"], deadline=deadline, timeout=timeout)
        finally:
            self._turn.release()

    async def _run(self, code: str, *, deadline: float, timeout: float) -> Observation:
        if self._kernel.death.done():
            how = await to_its_end(asyncio.create_task(self._replace_kernel()))
            return Observation(f"[not run: the kernel had {how} and was restarted; {LOST}]", error=True)
        excerpt = Excerpt(self._setting.output_chars)
        end = await run_cell(self._kernel, code, deadline=deadline, feed=excerpt.feed)
        if end.answer is None:
            how = await to_its_end(asyncio.create_task(self._replace_kernel()))
            note = death_note(how, timed_out=end.timed_out, timeout=timeout)
        else:
            note = f"[interrupted after {timeout:g} s; variables and imports are kept]" if end.timed_out else ""
        return observation(end, excerpt, note=note)

    async def _replace_kernel(self) -> str:
        """Put a fresh kernel in the place of one that is no longer of use; how the old one ended."""
        exit_code = await self._kernel.end()
        try:
            self._kernel = await self._zygote.fork()
        except ConnectionError:
            self._zygote.close()
            self._zygote = await Zygote.start(self._setting)
            self._kernel = await self._zygote.fork()
        if exit_code is None:
            return "died with its zygote"
        return f"died of signal {-exit_code}" if exit_code < 0 else f"exited with code {exit_code}"


def death_note(how: str, *, timed_out: bool, timeout: float) -> str:
    """What the model is told about a kernel that had to be replaced."""
    if timed_out:
        return f"[killed after {timeout:g} s, since an interrupt did not stop it; the kernel was restarted; {LOST}]"
    return f"[the kernel {how} and was restarted; {LOST}]"


def observation(end: CellEnd, excerpt: Excerpt, *, note: str) -> Observation:
    """Output first, then the value, then the note, each on a line of its own."""
    value = end.answer.value if end.answer is not None else None
    failed = end.timed_out or end.answer is None or end.answer.status != "ok"
    text = excerpt.text()
    for part in (value, note):
        if part:
            text += part if not text or text.endswith("\n") else f"\n{part}"
    cut = end.answer is not None and end.answer.cut
    return Observation(text, error=failed, truncated=excerpt.truncated or cut, timed_out=end.timed_out)
