"""One HTTP exchange with an inference server, and what its status means for the rollout.

An answer is read whole (up to a bound) before anything looks at it. A fault that another try may mend is a
PassingFault, which only the client sees; all others leave as errors of the SDK.
"""

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from raas_sdk.errors import BackendContract, BackendRefused, LimitReached

__all__ = ["LARGEST_ANSWER", "PassingFault", "Reply", "fetch", "good_object", "object_in", "post"]

LARGEST_ANSWER = 64 * 1024 * 1024
CHUNK = 256 * 1024
SHOWN = 200
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529})
TOO_LONG = re.compile(
    r"exceed_context_size_error|context_length_exceeded|exceeds? the available context size"
    r"|maximum context length|maximum model length|longer than the (?:maximum|model|context)",
    re.IGNORECASE,
)


class PassingFault(Exception):
    """A fault that may be gone at the next try; `retry_after` is what the server asked for, in seconds."""

    def __init__(self, fault: str, *, retry_after: float | None = None) -> None:
        super().__init__(fault)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer, read to its end. `route` is the path that was called."""

    route: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def shown(self) -> str:
        """The first characters of the body, for messages."""
        return self.body[: 4 * SHOWN].decode(errors="replace")[:SHOWN]


async def post(session: aiohttp.ClientSession, url: str, body: Mapping[str, Any]) -> Reply:
    """Send a JSON object and read the answer; raise PassingFault when the connection fails."""
    data = msgspec.json.encode(body)
    return await _exchange(session, "POST", url, data=data, headers={"Content-Type": "application/json"})


async def fetch(session: aiohttp.ClientSession, url: str) -> Reply:
    """GET a URL and read the answer; raise PassingFault when the connection fails."""
    return await _exchange(session, "GET", url)


def good_object(reply: Reply) -> dict[str, Any]:
    """The JSON object of a 200; else raise what the status means (see the table in `errors`)."""
    if reply.status == 200:
        return object_in(reply)
    refusal = BackendRefused(f"{reply.route} answered HTTP {reply.status}: {reply.shown!r}")
    if reply.status in (400, 413, 422, 500) and TOO_LONG.search(reply.shown):
        raise LimitReached("context") from refusal
    if reply.status in PASSING:
        fault = f"{reply.route} answered HTTP {reply.status}: {reply.shown!r}"
        raise PassingFault(fault, retry_after=_retry_after(reply.headers.get("Retry-After")))
    raise refusal


def object_in(reply: Reply) -> dict[str, Any]:
    """The body as a JSON object; raise BackendContract for any other body or an error object."""
    try:
        found = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BackendContract(f"the answer of {reply.route} is not JSON ({error}): {reply.shown!r}") from error
    if not isinstance(found, dict):
        raise BackendContract(f"the answer of {reply.route} is not a JSON object: {reply.shown!r}")
    if found.get("error"):
        raise BackendContract(f"{reply.route} answered 200 with an error: {reply.shown!r}")
    return found


async def _exchange(session: aiohttp.ClientSession, method: str, url: str, **options: Any) -> Reply:
    try:
        async with session.request(method, url, allow_redirects=False, **options) as response:
            body = await _read(response)
            return Reply(response.url.path, response.status, response.headers, body)
    except aiohttp.ClientResponseError as error:
        raise BackendContract(f"{url!r} did not answer in HTTP: {error}") from error
    except aiohttp.InvalidURL as error:
        raise BackendRefused(f"{url!r} is not a URL that can be called") from error
    except TimeoutError as error:
        raise PassingFault(str(error) or "no whole answer within the time of one call") from error
    except (aiohttp.ClientError, OSError) as error:
        raise PassingFault(f"{type(error).__name__}: {error}") from error


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > LARGEST_ANSWER:
            shown = bytes(body[:SHOWN])
            response.close()
            raise BackendContract(f"the answer of {response.url.path} is larger than {LARGEST_ANSWER} bytes: {shown!r}")
    return bytes(body)


def _retry_after(header: str | None) -> float | None:
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())
