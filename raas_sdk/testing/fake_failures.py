"""The answers of a fake backend that are no answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from raas_sdk.testing.faults import Fault

__all__ = ["FAILURES"]

GARBAGE: Mapping[str, bytes] = {
    "empty": b"",
    "error_object": b'{"error": {"message": "the engine is dead", "code": 500}}',
    "half_json": b'{"choices": [{"token_ids": [1, 2',
    "html": b"<html><body>502 Bad Gateway</body></html>",
    "other_shape": b'{"status": "ok", "choices": []}',
}


async def _status(request: web.Request, fault: Fault) -> web.StreamResponse:
    headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
    return web.Response(status=fault.status, text=fault.text, headers=headers)


async def _hang(request: web.Request, fault: Fault) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response(status=500)


async def _cut(request: web.Request, fault: Fault) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "4096"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    if request.transport is not None:
        request.transport.close()
    return response


async def _endless(request: web.Request, fault: Fault) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    try:
        while True:
            await response.write(b"[" + b"1," * 65536)
    except ConnectionError:
        return await _hang(request, fault)  # until the server has seen the client leave


async def _garbage(request: web.Request, fault: Fault) -> web.StreamResponse:
    return web.Response(body=GARBAGE[fault.kind], content_type="application/json")


FAILURES: Mapping[str, Callable[[web.Request, Fault], Awaitable[web.StreamResponse]]] = {
    "cut": _cut,
    "endless": _endless,
    "hang": _hang,
    "status": _status,
    **dict.fromkeys(GARBAGE, _garbage),
}
