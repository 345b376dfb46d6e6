"""The server's socket."""

import socket

import pytest

from raas_sdk.errors import SettingsInvalid
from raas_sdk.server.listening import listen, url_of


def test_a_taken_port_is_named():
    with listen("127.0.0.1", 0) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(SettingsInvalid, match=str(port)):
            listen("127.0.0.1", port)


def test_a_host_that_does_not_exist_is_named():
    with pytest.raises(SettingsInvalid, match="no such host"):
        listen("no such host", 0)


def test_dead_peers_are_noticed_and_the_url_is_one_to_call():
    with listen("0.0.0.0", 0) as bound:
        assert bound.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert url_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
