"""An IPython cell in a sandbox, beside a bare process that hands the same text to the same shell."""

import asyncio
import statistics
import sys
from functools import partial
from pathlib import Path

from raas_runtime import Local, SandboxSpec, SandboxWorkspace
from report import Row
from rounds import interleaved, ratio

__all__ = ["measure"]

CELL = "print(1 + 1)"
TOOL = "execute_ipython_cell"


async def measure(*, cells: int, rounds: int) -> list[Row]:
    """One row: seconds of a cell. The runtime is `local`: what is measured is the way there, not isolation."""
    command = (sys.executable, str(Path(__file__).with_name("shell_floor.py")))
    floor = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with Local().open_workspace(SandboxSpec(), tools=["ipython"]) as workspace:
            candidates = {"ours": partial(_in_sandbox, workspace, cells), "floor": partial(_bare, floor, cells)}
            seconds = await interleaved(candidates, rounds=rounds)
    finally:
        assert floor.stdin is not None
        floor.stdin.close()
        await floor.wait()
    shown = {name: f"{statistics.median(times) / cells * 1e3:.2f} ms" for name, times in seconds.items()}
    return [
        Row(
            "IPython: a cell, times as long", shown["ours"], shown["floor"], ratio(seconds["ours"], seconds["floor"]), 8
        )
    ]


async def _in_sandbox(workspace: SandboxWorkspace, cells: int) -> None:
    for _ in range(cells):
        seen = await workspace.call(TOOL, {"code": CELL}, timeout=15)
        if "2" not in seen.text:
            raise SystemExit(f"the cell gave {seen.text!r}")


async def _bare(process: asyncio.subprocess.Process, cells: int) -> None:
    assert process.stdin is not None and process.stdout is not None
    code = CELL.encode()
    for _ in range(cells):
        process.stdin.write(len(code).to_bytes(4, "big") + code)
        length = int.from_bytes(await process.stdout.readexactly(4), "big")
        if await process.stdout.readexactly(length) != b"2\n":
            raise SystemExit("the floor's cell gave something else")
