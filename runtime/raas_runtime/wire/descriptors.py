"""A descriptor that comes over a Unix socket."""

import array
import socket

__all__ = ["NO_DESCRIPTOR", "receive_descriptor"]

NO_DESCRIPTOR = -1


def receive_descriptor(connection: socket.socket, size: int) -> tuple[bytes, int]:
    """At most `size` bytes and the descriptor sent with them (NO_DESCRIPTOR: none); no bytes: the peer has closed.

    It is closed on exec from the start, which `socket.recv_fds` does not see to.
    """
    room = socket.CMSG_SPACE(array.array("i").itemsize)
    data, ancillary, _, _ = connection.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    for _level, kind, payload in ancillary:
        if kind == socket.SCM_RIGHTS:
            return data, array.array("i", payload)[0]
    return data, NO_DESCRIPTOR
