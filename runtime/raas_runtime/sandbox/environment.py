"""What every sandbox starts with: a small clean environment, and limits by the names `resource` knows."""

import os

from raas_runtime.sandbox.interpreter import Interpreter
from raas_runtime.sandbox.limits import Limits

__all__ = ["clean_environment", "rlimits"]


def clean_environment(python: Interpreter, *, home: str, scratch: str) -> dict[str, str]:
    """The environment of a sandbox; nothing of the host's own."""
    return {
        "PATH": f"{os.path.dirname(python.executable)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": scratch,
        "IPYTHONDIR": f"{scratch}/.ipython",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }


def rlimits(limits: Limits) -> dict[str, int]:
    """Limits that hold for each process; the number of processes is for runtimes with a user of their own."""
    return {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
    }
