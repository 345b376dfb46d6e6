"""The one way to sample: a client that keeps connections alive and tries again when a fault may pass."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from types import TracebackType
from typing import Self

import aiohttp

from raas_sdk.backends.address import normalise_address
from raas_sdk.backends.backoff import Backoff
from raas_sdk.backends.detect import detect_wire
from raas_sdk.backends.exchange import PassingFault
from raas_sdk.backends.generation import GenerateRequest, Generation
from raas_sdk.backends.llamacpp import LlamacppWire
from raas_sdk.backends.prorl import ProrlWire
from raas_sdk.backends.target import BackendTarget
from raas_sdk.backends.vllm import VllmCompletionsWire, VllmWire
from raas_sdk.backends.wire import Wire
from raas_sdk.errors import BackendContract, BackendRefused, BackendUnreachable, BadRequest

__all__ = ["WIRES", "BackendClient"]

WIRES = ("llamacpp", "prorl", "vllm", "vllm_completions")
CONNECT_SECONDS = 10.0
IDLE_SECONDS = 4.0
"""Below the 5 s after which uvicorn and llama.cpp close an idle connection; a tool phase often takes longer."""


class BackendClient:
    """Samples from any backend; `async with` holds its connections.

    `call_seconds` bounds one try, `backoff` all of them. Cancelling a call closes its connection, so that the
    server stops sampling; nothing is sent again once an answer was read.
    """

    def __init__(
        self,
        *,
        backoff: Backoff | None = None,
        call_seconds: float = 600.0,
        rng: Random | None = None,
    ) -> None:
        self._backoff = backoff or Backoff()
        self._rng = rng or Random()
        self._timeout = aiohttp.ClientTimeout(total=call_seconds, sock_connect=CONNECT_SECONDS)
        self._session: aiohttp.ClientSession | None = None
        self._wires: Mapping[str, Wire] = {
            wire.name: wire for wire in (LlamacppWire(), ProrlWire(), VllmWire(), VllmCompletionsWire())
        }
        self._detected: dict[tuple[str, int], str] = {}

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def generate(self, target: BackendTarget, request: GenerateRequest, *, earlier_tries: int = 0) -> Generation:
        """Return the sampled reply; waits go on growing from `earlier_tries` made at another backend.

        Raise BackendUnreachable when the tries are used up, BackendRefused for a 4xx, BackendContract for an
        answer that cannot be trained on, LimitReached("context") for a prompt too long for the model.
        """
        target = replace(target, address=normalise_address(target.address))
        tries = _Tries(earlier=earlier_tries)
        while True:
            try:
                return tries.stamped(await self._once(target, request))
            except (PassingFault, BackendUnreachable) as fault:
                tries.add(fault)
                await self._wait(target, tries, fault)
            except (BackendContract, BackendRefused) as error:
                raise type(error)(f"backend {target.address!r}: {error}") from error

    async def detect(self, address: str) -> str:
        """Return the wire that the server speaks; raise BackendUnreachable when it does not answer."""
        return await detect_wire(self._opened(), normalise_address(address))

    async def _once(self, target: BackendTarget, request: GenerateRequest) -> Generation:
        wire = self._wires.get(await self._wire_name(target))
        if wire is None:
            raise BadRequest(f"backend {target.address!r} has wire {target.wire!r}; known wires: {WIRES!r}")
        return await wire.generate(self._opened(), target.address, request)

    async def _wire_name(self, target: BackendTarget) -> str:
        if target.wire is not None:
            return target.wire
        key = (target.address, target.epoch)
        if key not in self._detected:
            self._detected[key] = await self.detect(target.address)
        return self._detected[key]

    async def _wait(self, target: BackendTarget, tries: "_Tries", fault: Exception) -> None:
        """Sleep before the next try; raise BackendUnreachable when there is to be none."""
        asked = getattr(fault, "retry_after", None)
        seconds = self._backoff.wait_seconds(tries.earlier + tries.failed, self._rng, retry_after=asked)
        if not self._backoff.allows(tries.failed, seconds_since_fault=tries.seconds + seconds):
            what = f"backend {target.address!r} gave no answer in {tries.failed} tries; last fault: {fault}"
            what = what if asked is None else f"{what} (Retry-After {asked:g} s)"
            raise BackendUnreachable(what, tries=tries.failed) from fault
        await asyncio.sleep(seconds)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("this BackendClient is not open; use it inside 'async with'")
        return self._session


@dataclass(slots=True)
class _Tries:
    """The faults of one call, and when they began."""

    earlier: int = 0
    faults: list[str] = field(default_factory=list)
    since: float | None = None

    @property
    def failed(self) -> int:
        return len(self.faults)

    @property
    def seconds(self) -> float:
        return 0.0 if self.since is None else time.monotonic() - self.since

    def add(self, fault: Exception) -> None:
        self.since = time.monotonic() if self.since is None else self.since
        self.faults.append(str(fault)[:200])

    def stamped(self, generation: Generation) -> Generation:
        """The reply, saying which faults came before it."""
        if not self.faults:
            return generation
        said = f"sampled on try {self.failed + 1} after: {'; '.join(self.faults)}"
        note = said if generation.note is None else f"{said}; {generation.note}"
        return replace(generation, tries=self.failed + 1, note=note)
