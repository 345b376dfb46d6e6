"""The zygote process: imports IPython and the preloads once, forks a kernel on request, reaps it when told.

Single-threaded, or its forks would not be safe. Control frames are JSON datagrams: {"op": "fork"} with the kernel's
socket beside it is answered by {"pid": n}; {"op": "reap", "pid": n} by {"status": exit code}. A dead kernel stays a
zombie until it is reaped, so its pid is never another process's in between.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from raas_runtime.tools.ipython.interrupt import Interrupt
from raas_runtime.wire.descriptors import receive_descriptor
from raas_runtime.wire.family import die_with_parent, hide, show

__all__ = ["main"]

REQUEST_BYTES = 4096


def main(control_fd: int, library: str, *, output_chars: int, preload: Sequence[str]) -> None:
    """Get ready, say so, then serve until the action server is gone. Never returns."""
    die_with_parent(signal.SIGKILL)
    hide()
    interrupt = Interrupt()
    control = socket.socket(fileno=control_fd)
    try:
        shell = prepare(preload)
    except ImportError as error:
        answer(control, {"fault": str(error)})
        os._exit(1)
    if library in sys.path:
        sys.path.remove(library)
    from raas_runtime.tools.ipython.worker import serve_cells

    answer(control, {"ready": True})
    serve_forks(control, partial(serve_cells, shell=shell, interrupt=interrupt, output_chars=output_chars))
    os._exit(0)


def prepare(preload: Sequence[str]) -> Any:
    """Everything a kernel inherits; ImportError names the module that could not be imported."""
    try:
        from raas_runtime.tools.ipython.shell import build_shell
    except ImportError as error:
        raise ImportError(f"{sys.executable} cannot import IPython ({error}); install ipython>=9 for it") from error
    for name in preload:
        try:
            importlib.import_module(name)
        except Exception as error:  # a module may raise anything while it is imported
            raise ImportError(f"preload {name!r} failed: {type(error).__name__}: {error}") from error
    shell = build_shell()
    if threading.active_count() > 1 or len(os.listdir("/proc/self/task")) > 1:
        names = [thread.name for thread in threading.enumerate()]
        raise ImportError(f"preload {list(preload)!r} left threads running ({names}), which no fork would have")
    gc.collect()
    gc.freeze()
    return shell


def serve_forks(control: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """Fork and reap as asked, until the other end is closed."""
    while True:
        request, descriptor = receive_descriptor(control, REQUEST_BYTES)
        if not request:
            return
        message = json.loads(request)
        if message["op"] == "fork":
            answer(control, {"pid": fork_kernel(control, descriptor, serve=serve)})
        else:
            _, status = os.waitpid(message["pid"], 0)
            answer(control, {"status": os.waitstatus_to_exitcode(status)})


def fork_kernel(control: socket.socket, descriptor: int, *, serve: Callable[[socket.socket], None]) -> int:
    """The pid of a new kernel that serves cells on `descriptor`."""
    pid = os.fork()
    if pid:
        os.close(descriptor)
        return pid
    control.close()
    os.setsid()
    die_with_parent(signal.SIGKILL)
    show()
    serve(socket.socket(fileno=descriptor))
    os._exit(0)


def answer(control: socket.socket, message: dict[str, Any]) -> None:
    """Send one control frame."""
    control.send(json.dumps(message).encode())
