"""The outer process of a sandbox without namespaces: whatever the action server leaves behind comes to it and ends.

It and the action server watch each other: kill -9 of either ends both and all they started.
"""

import os
import signal
from pathlib import Path
from typing import NoReturn

from raas_runtime.removal import remove_tree
from raas_runtime.wire.action_server import main as serve
from raas_runtime.wire.family import adopt_orphans, end_descendants

__all__ = ["main"]


def main(library: str, directory: str) -> NoReturn:
    """Fork the action server and outlive it until no descendant is left. Never returns."""
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: leave(directory))
    server = os.fork()
    if server == 0:
        serve(library, directory)
    wait_for(server)
    leave(directory)


def leave(directory: str) -> NoReturn:
    """End every descendant, remove what the sandbox wrote, end; also on SIGTERM, when the action server hangs."""
    end_descendants()
    remove_tree(Path(directory))
    os._exit(0)


def wait_for(server: int) -> None:
    """Reap orphans until the action server ends."""
    while os.waitpid(-1, 0)[0] != server:
        pass
