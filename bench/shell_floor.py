"""The least that could run an IPython cell: a process that reads a length and a text, and answers what it printed."""

import contextlib
import io
import sys

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

__all__: list[str] = []


def serve() -> None:
    """Run cells until the input ends."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    answers = sys.stdout.buffer
    while head := sys.stdin.buffer.read(4):
        code = sys.stdin.buffer.read(int.from_bytes(head, "big")).decode()
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            shell.run_cell(code, store_history=False)
        text = shown.getvalue().encode()
        answers.write(len(text).to_bytes(4, "big") + text)
        answers.flush()


if __name__ == "__main__":
    serve()
