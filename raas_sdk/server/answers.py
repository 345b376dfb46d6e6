"""What goes out: JSON by msgspec, and for every error a status, a stable code and a sentence."""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from raas_sdk.errors import (
    BadRequest,
    BadSampling,
    JobConflict,
    NoBackend,
    NotNow,
    NotStarted,
    PluginUnavailable,
    QueueFull,
    RaasError,
)
from raas_sdk.server.bodies import BodyRefused

__all__ = ["answer", "answer_error", "encode_json", "error_handlers"]

log = logging.getLogger(__name__)

STATUSES: tuple[tuple[type[RaasError], int], ...] = (
    (BadSampling, 422),
    (BadRequest, 400),
    (QueueFull, 429),
    (JobConflict, 409),
    (NotStarted, 503),
    (NotNow, 503),
    (NoBackend, 503),
    (PluginUnavailable, 503),
)
HTTP_CODES = {404: "no_such_route", 405: "method_not_allowed"}
RETRY_SECONDS = "5"


def encode_json(value: Any) -> bytes:
    """JSON bytes of anything: NaN becomes null, foreign objects their repr, lone surrogates U+FFFD."""
    try:
        return msgspec.json.encode(value, enc_hook=repr)
    except (TypeError, UnicodeEncodeError):
        return msgspec.json.encode(_mended(value), enc_hook=repr)


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response."""
    return Response(encode_json(value), status, headers, media_type="application/json")


def answer_error(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of every error."""
    return answer({"detail": detail, "code": code}, status, headers)


def error_handlers() -> dict[Any, Any]:
    """Exception class → handler, for FastAPI."""
    return {
        RaasError: _for_ours,
        ClientDisconnect: _for_gone,
        BodyRefused: _for_body,
        RequestValidationError: _for_query,
        HTTPException: _for_http,
    }


async def _for_ours(request: Request, error: RaasError) -> Response:
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    if status == 500:
        log.error("a request failed", extra={"path": request.url.path, "fault": str(error)})
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, QueueFull) else None
    if status == 503:
        headers = {"Retry-After": RETRY_SECONDS}
    return answer_error(status, error.code, str(error), headers)


async def _for_gone(request: Request, error: ClientDisconnect) -> Response:
    return answer_error(499, "caller_gone", "the caller left before its body was complete")


async def _for_body(request: Request, error: BodyRefused) -> Response:
    # The rest of a refused body may still be on its way: the connection cannot be used again.
    headers = {"Connection": "close"} if error.status == 413 else None
    return answer_error(error.status, error.code, str(error), headers)


async def _for_query(request: Request, error: RequestValidationError) -> Response:
    fault = error.errors()[0]
    where = ".".join(str(part) for part in fault["loc"])
    return answer_error(422, "bad_parameter", f"{where}: {fault['msg']}, got {fault.get('input')!r:.100}")


async def _for_http(request: Request, error: HTTPException) -> Response:
    code = HTTP_CODES.get(error.status_code, "http_error")
    return answer_error(error.status_code, code, f"{request.method} {request.url.path}: {error.detail}", error.headers)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_mended(key if isinstance(key, str) else repr(key)): _mended(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mended(item) for item in value]
    return value
