"""IPython's shell, quiet and quick: no history thread, no output tee, plain tracebacks, no prompts.

Runs in the zygote and its forks only; the action server never imports IPython.
"""

import contextlib
import os
import subprocess
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__ = ["QuietShell", "build_shell"]


class ValueHook(DisplayHook):  # type: ignore[misc]
    """Keeps the text of the last shown value instead of printing it behind a prompt."""

    shown: str | None = None

    def write_output_prompt(self) -> None:
        """Show no prompt."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        """Keep the value's plain text."""
        text = format_dict.get("text/plain")
        self.shown = text if isinstance(text, str) else None

    def take(self) -> str | None:
        """The text of the value shown since the last call, if any."""
        shown, self.shown = self.shown, None
        return shown


class QuietShell(InteractiveShell):  # type: ignore[misc]
    """The shell of a kernel."""

    displayhook_class = ValueHook

    def _tee(self, channel: str) -> contextlib.AbstractContextManager[None]:
        # IPython 9 records every write for its notebook exporter, which makes print quadratic.
        return contextlib.nullcontext()

    def system(self, cmd: str) -> None:
        """Run a `!` line on the cell's own descriptors and in its process group, so that one interrupt ends both."""
        command = self.var_expand(cmd, depth=1)
        self.user_ns["_exit_code"] = subprocess.call(command, shell=True, executable=shell_program())


def shell_program() -> str:
    """bash where there is one."""
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"


def build_shell() -> QuietShell:
    """The shell, warmed by a cell that works and one that fails, then emptied."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    shell: QuietShell = QuietShell.instance(config=config)
    for cell in ("print(end='')", "1 + 1", "1 / 0"):
        shell.run_cell(cell, store_history=True)
    shell.reset(new_session=True)
    shell.displayhook.take()
    return shell
