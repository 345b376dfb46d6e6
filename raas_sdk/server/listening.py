"""The server's own socket: port 0 works, a taken port is explained, dead peers are noticed."""

import socket

from raas_sdk.errors import SettingsInvalid

__all__ = ["listen", "url_of"]

KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


def listen(host: str, port: int) -> socket.socket:
    """Bind; raise SettingsInvalid that names the address. Accepted sockets inherit TCP keep-alive."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise SettingsInvalid(f"--host {host!r} cannot be resolved: {error}") from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE.items():
            if hasattr(socket, name):
                bound.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise SettingsInvalid(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from error
    return bound


def url_of(bound: socket.socket) -> str:
    """How a client on this machine reaches it."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
