"""A kernel: one fork of the zygote that runs cells, one at a time, until its socket ends."""

import os
import socket
import sys
from typing import Any

from raas_runtime.tools.excerpt import shorten
from raas_runtime.tools.ipython.interrupt import Interrupt
from raas_runtime.tools.ipython.shell import QuietShell
from raas_runtime.tools.ipython.stream import CellStreams
from raas_runtime.wire.descriptors import NO_DESCRIPTOR, receive_descriptor
from raas_runtime.wire.frames import Frame, encode, receive_frame

__all__ = ["serve_cells"]


def serve_cells(connection: socket.socket, *, shell: QuietShell, interrupt: Interrupt, output_chars: int) -> None:
    """Answer every cell frame with its status and the text of its last value; return at the end of the socket."""
    reseed()
    owner, streams = os.getpid(), CellStreams()
    sys.path.insert(0, "")
    while True:
        try:
            _, pipe = receive_descriptor(connection, 1)
            if pipe == NO_DESCRIPTOR:
                return
            frame = receive_frame(connection)
        except (EOFError, ConnectionError):
            return
        with streams.over(pipe):
            answer = run_cell(shell, frame, interrupt=interrupt, output_chars=output_chars)
        if os.getpid() != owner:
            os._exit(0)  # a cell forked and its child came back here: the answer is the parent's to give
        connection.sendall(answer)


def run_cell(shell: QuietShell, frame: Frame, *, interrupt: Interrupt, output_chars: int) -> bytes:
    """Run it and encode the answer, whatever it did to IPython or the builtins."""
    status = "error"
    try:
        interrupt.arm(forget_early=frame.header["after_interrupt"])
        code = frame.body.decode("utf-8", "surrogatepass")
        status = outcome(shell.run_cell(code, store_history=True))
        shell.exit_now = False
    except KeyboardInterrupt:
        status = "interrupted"
    except Exception as error:  # noqa: BLE001  a cell can break IPython itself
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        interrupt.disarm()
    value = shell.displayhook.take()
    header = {"status": status, "value": value is not None, "cut": value is not None and len(value) > output_chars}
    return encode(header, shorten(value or "", output_chars).encode("utf-8", "backslashreplace"))


def outcome(result: Any) -> str:
    """ok, error or interrupted."""
    if result.success:
        return "ok"
    fault = result.error_before_exec or result.error_in_exec
    return "interrupted" if isinstance(fault, KeyboardInterrupt) else "error"


def reseed() -> None:
    """Random numbers of this fork of its own; `random` sees to itself."""
    numpy_random, sympy_random = sys.modules.get("numpy.random"), sys.modules.get("sympy.core.random")
    if numpy_random is not None:
        numpy_random.seed()
    if sympy_random is not None:
        sympy_random.seed()
