"""Frames and excerpts by themselves."""

import asyncio
import socket
import struct
from contextlib import closing

import pytest
from raas_runtime.tools.excerpt import Excerpt, shorten
from raas_runtime.wire.frames import Frame, encode, read_frame, read_frame_from, receive_frame


@pytest.mark.parametrize("body", [b"", b"\x00\xff" * 100_000])
async def test_every_reader_gets_what_was_encoded(body: bytes) -> None:
    header = {"id": 1, "text": "\ud800ż"}
    raw = encode(header, body)
    stream = asyncio.StreamReader()
    stream.feed_data(raw)
    assert await read_frame(stream) == Frame(header, body)
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        theirs.settimeout(10)
        ours.settimeout(0)
        sent = asyncio.create_task(asyncio.to_thread(theirs.sendall, raw))
        assert await read_frame_from(ours) == Frame(header, body)
        await sent
        back = asyncio.create_task(asyncio.get_running_loop().sock_sendall(ours, raw))
        assert await asyncio.to_thread(receive_frame, theirs) == Frame(header, body)
        await back


@pytest.mark.parametrize(
    "raw", [struct.pack("<II", 1 << 30, 0), struct.pack("<II", 2, 0) + b"[]", struct.pack("<II", 1, 0) + b"{"]
)
async def test_what_is_no_frame_is_refused(raw: bytes) -> None:
    stream = asyncio.StreamReader()
    stream.feed_data(raw)
    with pytest.raises(ValueError):
        await read_frame(stream)


def test_an_excerpt_keeps_both_ends_and_counts_the_rest() -> None:
    excerpt = Excerpt(100)
    for number in range(1000):
        excerpt.feed(f"{number:03} ".encode())
    text = excerpt.text()
    assert excerpt.truncated
    assert text.startswith("000 001 ")
    assert text.endswith("998 999 ")
    assert "3900 of 4000 characters left out" in text


def test_an_excerpt_that_fits_is_untouched_whatever_the_pieces() -> None:
    excerpt = Excerpt(10)
    for byte in "żółć€".encode():
        excerpt.feed(bytes([byte]))
    assert excerpt.text() == "żółć€"
    assert not excerpt.truncated


def test_a_text_is_shortened_like_an_output() -> None:
    excerpt = Excerpt(20)
    excerpt.feed(b"a" * 15 + b"b" * 100 + b"c" * 5)
    assert shorten("a" * 15 + "b" * 100 + "c" * 5, 20) == excerpt.text()
