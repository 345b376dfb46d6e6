"""Removing a folder in which model code has worked."""

import contextlib
import os
import shutil
import stat
from pathlib import Path

__all__ = ["remove_tree"]


def remove_tree(folder: Path) -> None:
    """Remove a folder with whatever is in it, also what its owner has locked; nothing where it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        unlock(folder)
        shutil.rmtree(folder, ignore_errors=True)


def unlock(folder: Path) -> None:
    """Let the owner into every folder below, from the top."""
    for parent, names, _ in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, stat.S_IRWXU)
