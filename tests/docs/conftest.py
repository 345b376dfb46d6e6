"""Pages as programs: their blocks, and the commands in them with the output that is shown."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A line after `$ `, with those that its quotes take in; `shown` is what follows it."""

    text: str
    shown: tuple[str, ...]

    def fault(self, output):
        """None if every shown line stands in the output, in order; `…` is any text, and a line of it any lines."""
        lines = iter([_even(line) for line in output.splitlines()])
        for line in self.shown:
            pattern = ".*".join(re.escape(_even(part)) for part in line.split("…"))
            if line.strip("… ") and not any(re.search(pattern, one) for one in lines):
                return f"$ {self.text}\ndoes not print, or not in this order: {line!r}. It prints:\n{output}"
        return None


@dataclass(frozen=True)
class Page:
    text: str

    def blocks(self, language):
        return [body for kind, body in BLOCK.findall(self.text) if kind == language]

    @property
    def commands(self):
        return [command for block in self.blocks("console") for command in _commands(block)]


@pytest.fixture(scope="session")
def page():
    """Reads a page below docs/."""
    return lambda name: Page((DOCS / name).read_text(encoding="utf-8"))


def _even(line):
    return " ".join(line.split())


def _commands(block):
    found = []
    for line in block.splitlines():
        if found and _is_open(found[-1][0]):
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            found[-1][1].append(line)
    return [Command(text, tuple(shown)) for text, shown in found]


def _is_open(command):
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False
