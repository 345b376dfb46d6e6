"""The client. Connection errors, 429 and 503 are tried again, boundedly; a job that has an id never runs twice."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Mapping
from random import Random
from types import TracebackType
from typing import Any, Self

import aiohttp
import msgspec

from raas_sdk.client.errors import CallRefused, ServiceUnreachable
from raas_sdk.client.patience import Patience

__all__ = ["RolloutClient"]

RETRIED = (429, 503)
HEARTBEAT_SECONDS = 15.0
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0


class RolloutClient:
    """Calls one service; `async with` holds its connections. `retries` counts tries that failed, by reason."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        patience: Patience | None = None,
        connections: int = 0,
        rng: Random | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.retries: Counter[str] = Counter()
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._patience = patience or Patience()
        self._connections = connections
        self._rng = rng or Random()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=self._connections)
        self._session = aiohttp.ClientSession(
            connector=connector, headers=self._headers, cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def process(self, body: Mapping[str, Any], *, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> dict[str, Any]:
        """Run a rollout and return its result; raise CallRefused or ServiceUnreachable.

        A body without job_id gets one, so that a try after a lost connection joins the same job; such a job is
        cancelled when the caller goes away for good. The server's heartbeat tells a long rollout from a dead line.
        """
        if body.get("job_id") is None:
            body = {"on_disconnect": "cancel", **body, "job_id": uuid.uuid4().hex}
        path = f"/process?heartbeat={heartbeat_seconds:g}"
        return await self._call("POST", path, body, silence_seconds=max(4 * heartbeat_seconds, ANSWER_SECONDS))

    async def cancel(self, job_id: str) -> bool:
        """End a job wherever it is; return whether there was one."""
        answer = await self._call("POST", "/cancel", {"job_id": job_id})
        return bool(answer["known"])

    async def health(self) -> dict[str, Any]:
        """Whether the service answers at all."""
        return await self._call("GET", "/healthz")

    async def status(self) -> dict[str, Any]:
        """What the service does now."""
        return await self._call("GET", "/status")

    async def add_backend(self, address: str, **facts: Any) -> dict[str, Any]:
        """Register an inference server; `facts` are wire, weight, version, pool."""
        return await self._call("POST", "/add_llm_server", {"address": address, **facts})

    async def wait_ready(self, seconds: float = 60.0) -> None:
        """Return when the service takes jobs and has a backend; raise ServiceUnreachable when the time is up."""
        last: Exception | None = None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        await self._once("GET", "/readyz", None, ANSWER_SECONDS)
                        return
                    except (CallRefused, aiohttp.ClientError, TimeoutError) as error:
                        last = error
                    await asyncio.sleep(0.2)
        except TimeoutError as error:
            raise ServiceUnreachable(f"{self.url} was not ready within {seconds:g} s: {last}") from error

    async def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, silence_seconds: float = ANSWER_SECONDS
    ) -> dict[str, Any]:
        data = None if body is None else msgspec.json.encode(body)
        for failed in range(1, self._patience.tries + 1):
            asked = None
            try:
                return await self._once(method, path, data, silence_seconds)
            except CallRefused as refusal:
                if refusal.status not in RETRIED or failed == self._patience.tries:
                    raise
                asked, reason = refusal.retry_after, str(refusal.status)
            except (aiohttp.ClientError, TimeoutError, ConnectionError, msgspec.DecodeError) as error:
                if failed == self._patience.tries:
                    what = f"no answer from {self.url} in {failed} tries; last fault: {error or type(error).__name__}"
                    raise ServiceUnreachable(what) from error
                reason = type(error).__name__
            self.retries[reason] += 1
            await asyncio.sleep(self._patience.wait_seconds(failed, self._rng, asked=asked))
        raise AssertionError("a patience of no tries")

    async def _once(self, method: str, path: str, data: bytes | None, silence_seconds: float) -> dict[str, Any]:
        if self._session is None:
            raise RuntimeError("this RolloutClient is not open; use it inside 'async with'")
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=silence_seconds)
        headers = {} if data is None else {"Content-Type": "application/json"}
        async with self._session.request(
            method, self.url + path, data=data, headers=headers, timeout=timeout
        ) as response:
            content = await response.read()
            if response.status == 200:
                answer: dict[str, Any] = msgspec.json.decode(content)
                return answer
            raise _refusal(response.status, content, response.headers.get("Retry-After"))


def _refusal(status: int, content: bytes, retry_after: str | None) -> CallRefused:
    try:
        told = msgspec.json.decode(content)
        detail, code = str(told["detail"]), str(told["code"])
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError):
        detail, code = content[:200].decode("utf-8", "replace"), "http_error"
    return CallRefused(f"HTTP {status} {code}: {detail}", status=status, code=code, retry_after=retry_after)
