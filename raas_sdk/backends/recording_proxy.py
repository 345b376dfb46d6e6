"""A pass-through in front of a backend that writes down every sampling call as the backend got and answered it.

It proves token fidelity: what the service says was sent and sampled can be held against this log.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import aiohttp
from aiohttp import web

from raas_sdk.errors import SettingsInvalid

__all__ = ["recording_proxy"]

HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive", "host", "content-encoding"}
MAX_BODY_BYTES = 64 * 2**20


@asynccontextmanager
async def recording_proxy(upstream: str, log: Path) -> AsyncIterator[str]:
    """Serve on a free loopback port; yield its address. Appends one JSON line per POST: path, request, response."""
    with _opened(log) as lines:
        async with aiohttp.ClientSession(auto_decompress=False) as session:
            recorder = _Recorder(upstream.rstrip("/"), session, lines)
            app = web.Application(client_max_size=MAX_BODY_BYTES)
            app.router.add_route("*", "/{path:.*}", recorder.handle)
            runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                host, port = runner.addresses[0][:2]
                yield f"http://{host}:{port}"
            finally:
                await runner.cleanup()


def _opened(log: Path) -> TextIO:
    try:
        return log.open("a", encoding="utf-8")
    except OSError as error:
        raise SettingsInvalid(f"the log of calls {str(log)!r} cannot be written: {error}") from error


class _Recorder:
    """Forwards calls; a client that leaves cancels the call upstream too."""

    def __init__(self, upstream: str, session: aiohttp.ClientSession, lines: TextIO) -> None:
        self._upstream = upstream
        self._session = session
        self._lines = lines

    async def handle(self, request: web.Request) -> web.Response:
        sent = await request.read()
        headers = {key: value for key, value in request.headers.items() if key.lower() not in HOP_BY_HOP}
        try:
            url = self._upstream + request.path_qs
            async with self._session.request(request.method, url, data=sent, headers=headers) as answer:
                received = await answer.read()
                if request.method == "POST":
                    self._note(request.path, sent, answer.status, received)
                kept = {key: value for key, value in answer.headers.items() if key.lower() not in HOP_BY_HOP}
                return web.Response(status=answer.status, body=received, headers=kept)
        except aiohttp.ClientError as error:
            return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=502)

    def _note(self, path: str, sent: bytes, status: int, received: bytes) -> None:
        entry = {"path": path, "status": status, "request": _data(sent), "response": _data(received)}
        self._lines.write(json.dumps(entry) + "\n")
        self._lines.flush()


def _data(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
