"""The Python that runs the tools, and which host paths it is made of."""

import asyncio
import json
import os
import site
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raas_runtime.errors import SpecRefused

__all__ = ["Interpreter", "library_folder"]

ASK_SECONDS = 30
ASK = """
import json, os, site, sys, sysconfig
print(json.dumps({"version": sys.version_info[:2], "folders": [sys.prefix, sys.exec_prefix, sys.base_prefix,
    sys.base_exec_prefix, *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
    *site.getsitepackages()]}))
"""
OLDEST = (3, 11)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An executable and the folders it needs at the same paths."""

    executable: str
    folders: tuple[str, ...] = ()

    @classmethod
    def this(cls) -> "Interpreter":
        """The one that runs this process."""
        paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
        prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
        return cls.made_of(sys.executable, [*prefixes, *paths, *site.getsitepackages()])

    @classmethod
    async def at(cls, executable: str) -> "Interpreter":
        """Another one of the host, asked what it is made of; SpecRefused where it is no Python 3.11 or newer."""
        answer = await asyncio.to_thread(ask, executable)
        if tuple(answer["version"]) < OLDEST:
            found = ".".join(map(str, answer["version"]))
            raise SpecRefused(f"spec.python {executable!r} is Python {found}; the tools need 3.11 or newer")
        return cls.made_of(executable, answer["folders"])

    @classmethod
    def made_of(cls, executable: str, folders: list[str]) -> "Interpreter":
        """With the folders of every link on the way to the real executable, and the real paths of all."""
        absolute = os.path.abspath(executable)
        wanted = [*folders, *(os.path.dirname(hop) for hop in links(absolute))]
        wanted += [os.path.realpath(folder) for folder in wanted]
        return cls(absolute, tuple(outermost(folder for folder in wanted if os.path.isdir(folder))))


def ask(executable: str) -> dict[str, Any]:
    """What an interpreter says about itself."""
    try:
        answer = subprocess.run([executable, "-I", "-c", ASK], capture_output=True, timeout=ASK_SECONDS, check=True)
        return dict(json.loads(answer.stdout))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SpecRefused(f"spec.python {executable!r} cannot be run as a Python interpreter: {error}") from error


def links(path: str) -> list[str]:
    """The path and every path its symbolic links lead through."""
    hops = [path]
    while os.path.islink(path):
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        hops.append(path)
    return hops


def outermost(folders: Iterable[str]) -> list[str]:
    """The folders that lie in no other of them."""
    kept: list[str] = []
    for folder in sorted(set(folders), key=len):
        if not any(Path(folder).is_relative_to(outer) for outer in kept):
            kept.append(folder)
    return kept


def library_folder() -> Path:
    """The folder of this package's own source."""
    return Path(__file__).resolve().parent.parent
