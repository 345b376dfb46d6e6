"""What `raas debug` shows while the job runs, and how it waits before a sandbox is closed."""

import asyncio
import sys

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from raas_sdk.cli.console import side_screen
from raas_sdk.engine.messages import StageChanged, TurnFinished
from raas_sdk.gateway import Observer
from raas_sdk.workspace import Workspace

__all__ = ["DebugView", "keep_sandbox", "print_isolation"]


class DebugView(Observer):
    """Prints stages and turns."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def stage(self, message: StageChanged) -> None:
        """A line when a stage begins and when it ends."""
        name = message.stage.upper()
        if message.state == "running":
            again = f" (attempt {message.attempt})" if message.attempt > 1 else ""
            self._console.print(f"▶ {name}{again}", style="bold cyan")
        elif message.state == "done":
            self._console.print(f"■ {name} {message.seconds or 0.0:.3f} s", style="cyan")

    def turn(self, message: TurnFinished) -> None:
        """The text of a turn."""
        title = f"turn {message.index + 1} · {message.n_tokens} tokens · {message.finish_reason}"
        self._console.print(Rule(title, align="left", style="dim"))
        self._console.print(Text(message.text))


def print_isolation(console: Console, *, runtime: str, level: str) -> None:
    """Which sandbox it is; in red where there is no isolation."""
    if runtime == "local":
        text = f"sandbox runtime 'local' (level {level}): NOTHING IS ISOLATED, the model's code runs as you"
        console.print(text, style="bold red")
    else:
        console.print(f"sandbox runtime {runtime!r}, level {level}", markup=False)


async def keep_sandbox(workspace: Workspace) -> None:
    """Show where the sandbox is and wait for Enter; do not wait where there is nobody to press it."""
    console = side_screen()
    print_isolation(console, runtime=workspace.runtime, level=workspace.level)
    pid = getattr(getattr(workspace, "inner", workspace), "pid", None)
    console.print(f"sandbox {workspace.id} is kept (pid {pid}); press Enter to close it", markup=False)
    await _enter()


async def _enter() -> None:
    loop = asyncio.get_running_loop()
    pressed = asyncio.Event()
    try:
        loop.add_reader(sys.stdin, pressed.set)
    except (OSError, ValueError):
        return
    try:
        await pressed.wait()
        sys.stdin.readline()
    finally:
        loop.remove_reader(sys.stdin)
