"""Many rollouts at once: a bounded number in flight, each written down when it ends."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.client.errors import CallRefused, ServiceUnreachable
from raas_sdk.client.rollout_client import RolloutClient
from raas_sdk.client.samples import Sample

__all__ = ["Batch"]


@dataclass(slots=True)
class Batch:
    """Runs samples through one client. `refused` holds those the service would not take, with its words.

    `on_result` is called for every finished rollout, in the order in which they end.
    """

    client: RolloutClient
    samples: Sequence[Sample]
    on_result: Callable[[Sample, Mapping[str, Any]], None]
    refused: list[tuple[Sample, CallRefused]] = field(default_factory=list)
    in_flight: int = 0

    async def run(self, *, concurrency: int) -> None:
        """Return when all are done; raise ServiceUnreachable when the service is gone.

        Jobs in flight at a cancel go on in the service; the next run joins them.
        """
        pending = iter(self.samples)
        workers = [asyncio.create_task(self._work(pending)) for _ in range(min(concurrency, len(self.samples)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, pending: Iterator[Sample]) -> None:
        for sample in pending:
            self.in_flight += 1
            try:
                self.on_result(sample, await self.client.process(sample.body))
            except CallRefused as refusal:
                self._refused(sample, refusal)
            finally:
                self.in_flight -= 1

    def _refused(self, sample: Sample, refusal: CallRefused) -> None:
        if refusal.retryable or refusal.status == 401:
            raise ServiceUnreachable(f"the service takes no jobs: {refusal}") from refusal
        self.refused.append((sample, refusal))
