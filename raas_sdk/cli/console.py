"""Where the commands print: results to stdout, everything else to stderr."""

import sys
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

__all__ = ["print_fault", "print_json", "screen", "side_screen"]


def screen() -> Console:
    """The console for what was asked for."""
    return Console(highlight=False)


def side_screen() -> Console:
    """The console for progress, warnings and errors."""
    return Console(stderr=True, highlight=False)


def print_fault(text: str) -> None:
    """Say in one red line what went wrong."""
    side_screen().print(Text(f"error: {' '.join(text.split())}", style="bold red"), soft_wrap=True)


def print_json(value: Any) -> None:
    """JSON to stdout, for programs."""
    encoded = msgspec.json.format(msgspec.json.encode(value, enc_hook=repr), indent=2)
    sys.stdout.write(encoded.decode() + "\n")
