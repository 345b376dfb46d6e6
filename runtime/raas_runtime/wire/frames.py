"""One frame on every socket of this package: two lengths, a JSON header, raw bytes.

Nothing large is ever escaped: code, output and files travel in the body. Lengths are little-endian uint32. The peer may
be hostile (code of a model can write to its kernel's socket), so both lengths have a ceiling.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["MAX_BODY_BYTES", "Frame", "encode", "read_frame", "read_frame_from", "receive_frame"]

LENGTHS = struct.Struct("<II")
MAX_HEADER_BYTES = 1 << 20
MAX_BODY_BYTES = 256 << 20
CHUNK_BYTES = 1 << 18


class Frame(NamedTuple):
    """A header and its bytes."""

    header: dict[str, Any]
    body: bytes = b""


def encode(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """The bytes of one frame; ValueError where the body is over 256 MiB or the header over 1."""
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"{len(body)} bytes do not fit a frame of at most {MAX_BODY_BYTES}; send less at once")
    head = json.dumps(header, ensure_ascii=True).encode()
    if len(head) > MAX_HEADER_BYTES:
        raise ValueError(f"a header of {len(head)} bytes is over {MAX_HEADER_BYTES}; send the data in the body")
    return LENGTHS.pack(len(head), len(body)) + head + body


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """The next frame; asyncio.IncompleteReadError at the end of the stream, ValueError where it is no frame."""
    head_size, body_size = unpack_lengths(await reader.readexactly(LENGTHS.size))
    header = decode_header(await reader.readexactly(head_size))
    return Frame(header, await reader.readexactly(body_size))


def receive_frame(sock: socket.socket) -> Frame:
    """The next frame from a blocking socket; EOFError at its end, ValueError where it is no frame."""
    head_size, body_size = unpack_lengths(receive_exactly(sock, LENGTHS.size))
    header = decode_header(receive_exactly(sock, head_size))
    return Frame(header, receive_exactly(sock, body_size))


async def read_frame_from(sock: socket.socket) -> Frame:
    """The next frame from a non-blocking socket that no stream owns; EOFError and ValueError as above."""
    head_size, body_size = unpack_lengths(await read_exactly_from(sock, LENGTHS.size))
    header = decode_header(await read_exactly_from(sock, head_size))
    return Frame(header, await read_exactly_from(sock, body_size))


async def read_exactly_from(sock: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes from a non-blocking socket; EOFError where it ends before."""
    loop = asyncio.get_running_loop()
    parts = bytearray()
    while len(parts) < size:
        data = await loop.sock_recv(sock, min(size - len(parts), CHUNK_BYTES))
        if not data:
            raise EOFError(f"the peer closed after {len(parts)} of {size} bytes")
        parts += data
    return bytes(parts)


def receive_exactly(sock: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes from a blocking socket; EOFError where it ends before."""
    parts = bytearray(size)
    view, got = memoryview(parts), 0
    while got < size:
        count = sock.recv_into(view[got:])
        if count == 0:
            raise EOFError(f"the peer closed after {got} of {size} bytes")
        got += count
    return bytes(parts)


def unpack_lengths(raw: bytes) -> tuple[int, int]:
    """Header and body length; ValueError where one is over its ceiling."""
    head_size, body_size = LENGTHS.unpack(raw)
    if head_size > MAX_HEADER_BYTES or body_size > MAX_BODY_BYTES:
        raise ValueError(f"no frame: lengths {head_size} and {body_size}")
    return head_size, body_size


def decode_header(raw: bytes) -> dict[str, Any]:
    """The header; ValueError where it is no JSON object."""
    header = json.loads(raw)
    if not isinstance(header, dict):
        raise ValueError(f"no frame: the header is {type(header).__name__}, not an object")
    return header
