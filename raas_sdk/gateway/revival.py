"""Backends that gave no answer are asked until they do: then they get jobs again."""

import asyncio
import logging
from collections.abc import Callable

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.task_set import TaskSet
from raas_sdk.errors import BackendFault

__all__ = ["Revival"]

log = logging.getLogger(__name__)

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 15.0


class Revival:
    """Probes by GET routes only, at once and then ever less often, as long as the backend is registered."""

    def __init__(
        self, pool: BackendPool, client: BackendClient, tasks: TaskSet, *, revived: Callable[[], None]
    ) -> None:
        self._pool = pool
        self._client = client
        self._tasks = tasks
        self._revived = revived
        self._watched: set[str] = set()

    def watch(self, target: BackendTarget) -> None:
        """Look after a backend; asking again for one that is looked after does nothing."""
        backend_id = target.backend_id
        if backend_id is None or backend_id in self._watched:
            return
        self._watched.add(backend_id)
        log.warning("backend gives no answer", extra={"address": target.address})
        self._tasks.create_task(self._until_it_answers(backend_id, target.address))

    async def _until_it_answers(self, backend_id: str, address: str) -> None:
        seconds = FIRST_SECONDS
        try:
            while self._is_down(backend_id) and not await self._answers(address):
                await asyncio.sleep(seconds)
                seconds = min(2 * seconds, LONGEST_SECONDS)
        finally:
            self._watched.discard(backend_id)
        self._pool.mark_healthy(backend_id)
        self._revived()

    def _is_down(self, backend_id: str) -> bool:
        return any(backend.id == backend_id and not backend.healthy for backend in self._pool.list())

    async def _answers(self, address: str) -> bool:
        try:
            await self._client.detect(address)
        except BackendFault:
            return False
        return True
