"""What comes in: request bodies, read in pieces up to a limit, as JSON objects or as a model of the wire."""

import asyncio
from typing import Any, TypeVar

import msgspec
from fastapi import Request
from pydantic import BaseModel, ValidationError

__all__ = ["OFF_LOOP_BYTES", "BodyRefused", "read_json", "read_model"]

Model = TypeVar("Model", bound=BaseModel)

OFF_LOOP_BYTES = 2**20
DRAIN_FACTOR = 4


class BodyRefused(Exception):
    """A body that cannot be read; answered with `status`."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


async def read_json(request: Request, *, max_bytes: int) -> Any:
    """The body as plain data; raise BodyRefused (400 or 413)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BodyRefused(400, "bad_content_type", f"send Content-Type: application/json, not {kind or 'none'!r}")
    body = await _read(request, max_bytes)
    if len(body) > OFF_LOOP_BYTES:
        return await asyncio.to_thread(_decode, body)
    return _decode(body)


async def read_model(request: Request, model: type[Model], *, max_bytes: int) -> Model:
    """The body as a model; raise BodyRefused (400, 413, or 422 naming the field)."""
    value = await read_json(request, max_bytes=max_bytes)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"]) or "body"
        raise BodyRefused(422, "bad_body", f"{where}: {fault['msg']}, got {fault['input']!r:.100}") from error


async def _read(request: Request, max_bytes: int) -> bytes:
    """Hold at most `max_bytes`; what is too big is read on for a while, so that the client gets its answer."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= max_bytes:
            pieces.append(piece)
        elif size > DRAIN_FACTOR * max_bytes:
            break
        else:
            pieces.clear()
    if size > max_bytes:
        raise BodyRefused(413, "body_too_large", f"the body is larger than max_body_bytes = {max_bytes}")
    return b"".join(pieces)


def _decode(body: bytes) -> Any:
    if not body.strip():
        raise BodyRefused(400, "bad_json", "the body is empty; send a JSON object")
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BodyRefused(400, "bad_json", f"the body is not JSON: {error}") from error
    except RecursionError as error:
        raise BodyRefused(400, "bad_json", "the body is nested too deeply") from error
