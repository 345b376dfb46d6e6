"""The last line: a fault of ours becomes a log entry and a 500, and the connection stays usable."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from raas_sdk.server.answers import answer_error

__all__ = ["Backstop"]

log = logging.getLogger(__name__)


class Backstop:
    """ASGI middleware. What fails after the answer has begun is raised on, since nothing else can be said."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            log.exception("a request failed", extra={"path": scope["path"]})
            detail = f"the service failed on this request ({type(error).__name__}); its log has the details"
            await answer_error(500, "internal", detail)(scope, receive, send)
