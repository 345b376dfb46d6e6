"""Backends that gave no reply: asked until they answer, then tried by one job, ever less often if that fails."""

import asyncio
import logging
from collections.abc import Callable

from raas_sdk.backends.backend import Backend, Health
from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.task_set import TaskSet
from raas_sdk.errors import BackendFault

__all__ = ["Revival"]

log = logging.getLogger(__name__)

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 15.0
REST_FACTOR = 4
LONGEST_REST_FACTOR = 12
TRIAL_FACTOR = 6


class Revival:
    """Asks by GET routes only, as long as the backend is registered and down.

    One that answers them but failed to sample rests for `rest_seconds`, four times as long after each trial that
    failed too, up to twelve times. A trial that has told nothing after six times `rest_seconds` goes to another job.
    """

    def __init__(
        self,
        pool: BackendPool,
        client: BackendClient,
        tasks: TaskSet,
        *,
        rest_seconds: float,
        revived: Callable[[], None],
    ) -> None:
        self._pool = pool
        self._client = client
        self._tasks = tasks
        self._rest_seconds = rest_seconds
        self._revived = revived
        self._news: dict[str, asyncio.Event] = {}

    def watch(self, target: BackendTarget) -> None:
        """Look after a backend that has just failed."""
        backend_id = target.backend_id
        if backend_id is None:
            return
        if backend_id in self._news:
            self.heard_of(backend_id)
            return
        log.warning("backend gives no reply", extra={"address": target.address})
        self._news[backend_id] = asyncio.Event()
        self._tasks.create_task(self._until_it_is_up(backend_id))

    def heard_of(self, backend_id: str) -> None:
        """Look at a backend's state again: it changed."""
        if backend_id in self._news:
            self._news[backend_id].set()

    async def _until_it_is_up(self, backend_id: str) -> None:
        news = self._news[backend_id]
        try:
            while (backend := self._sick(backend_id)) is not None:
                news.clear()
                is_over = await (self._rest if backend.health is Health.DOWN else self._trial)(backend, news)
                if is_over and self._sick(backend_id) is not None:
                    self._pool.try_again(backend_id)
                    self._revived()
        finally:
            del self._news[backend_id]

    async def _rest(self, backend: Backend, news: asyncio.Event) -> bool:
        """Return whether the backend answers and has rested enough; False as soon as there is news of it."""
        if await self._answers(backend):
            factor = min(REST_FACTOR ** (backend.outages - 1), LONGEST_REST_FACTOR)
            return not await _came(news, self._rest_seconds * factor)
        seconds = FIRST_SECONDS
        while not await _came(news, seconds):
            if await self._answers(backend):
                return True
            seconds = min(2 * seconds, LONGEST_SECONDS)
        return False

    async def _trial(self, backend: Backend, news: asyncio.Event) -> bool:
        """Return whether the job that tries it told nothing for so long that another should."""
        return not await _came(news, TRIAL_FACTOR * self._rest_seconds)

    def _sick(self, backend_id: str) -> Backend | None:
        return next((b for b in self._pool.list() if b.id == backend_id and not b.healthy), None)

    async def _answers(self, backend: Backend) -> bool:
        try:
            wire = await self._client.detect(backend.address)
        except BackendFault:
            return False
        if backend.wire is None:
            self._pool.set_wire(backend.id, wire)
        return True


async def _came(news: asyncio.Event, seconds: float) -> bool:
    """Whether the news came before so many seconds were over."""
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return False
    return True
