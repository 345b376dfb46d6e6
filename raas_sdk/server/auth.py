"""Who may call: a bearer token beyond loopback; on open loopback, no web page of another origin."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from raas_sdk.errors import SettingsInvalid
from raas_sdk.server.answers import answer_error
from raas_sdk.settings import Settings

__all__ = ["Gate", "is_loopback", "require_token_beyond_loopback"]

OPEN_PATHS = ("/healthz",)
ASK = {"WWW-Authenticate": "Bearer"}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_token_beyond_loopback(settings: Settings) -> None:
    """Raise SettingsInvalid where anybody on the network could start jobs."""
    if settings.token == "":
        raise SettingsInvalid("--token is empty; give a long random text, or leave it out on loopback")
    if settings.token is None and not is_loopback(settings.host):
        raise SettingsInvalid(f"--host {settings.host!r} is reachable from other machines: set --token (or RAAS_TOKEN)")


class Gate:
    """ASGI middleware. Plain, so that a caller's disconnect still reaches the routes."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._wanted = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            headers = Headers(scope=scope)
            if self._wanted is not None and not self._knows(headers):
                refusal = answer_error(401, "unauthorized", "send 'Authorization: Bearer TOKEN'", ASK)
                return await refusal(scope, receive, send)
            if self._wanted is None and not _is_local(headers.get("origin")):
                refusal = answer_error(403, "foreign_origin", "web pages of other origins may not call; set --token")
                return await refusal(scope, receive, send)
        await self._app(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        given = headers.get("authorization", "").encode("utf-8", "replace")
        return self._wanted is not None and hmac.compare_digest(given, self._wanted)


def _is_local(origin: str | None) -> bool:
    if origin is None:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False
