"""What a job costs beside its work, and what it weighs: gateway and engine, without HTTP, model and sandbox.

The floor is the least that could do it: one task a job that takes and gives back three semaphores of 8.
"""

import asyncio
import statistics
import time

from adapters import CodedCore, Core
from report import Row

__all__ = ["measure"]

FLOOR_TIMES = 20
"""A floor's round must last long enough to be measured beside rounds that take tens of times longer."""


class Semaphores:
    """The floor."""

    def run(self, n: int) -> None:
        """Move n jobs through three semaphores, and nothing else."""
        asyncio.run(self._through(n))

    async def _through(self, n: int) -> None:
        permits = [asyncio.Semaphore(8) for _ in range(3)]

        async def move(number: int) -> None:
            times: dict[int, float] = {}
            for stage, permit in enumerate(permits):
                async with permit:
                    began = time.perf_counter()
                    await _nothing(number)
                    times[stage] = time.perf_counter() - began

        await asyncio.gather(*(move(number) for number in range(n)))


async def _nothing(number: int) -> None:
    return None


def measure(*, jobs: int, rounds: int) -> list[Row]:
    """Rows for speed, with messages as objects and through msgpack, and for memory."""
    floor, plain, coded = Semaphores(), Core(), CodedCore()
    seconds: dict[str, list[float]] = {"floor": [], "plain": [], "coded": []}
    try:
        for number in range(rounds + 1):
            for name, one, count in (
                ("floor", floor, jobs * FLOOR_TIMES),
                ("plain", plain, jobs),
                ("coded", coded, jobs),
            ):
                start = time.perf_counter()
                one.run(count)
                if number:
                    seconds[name].append((time.perf_counter() - start) / count)
        weight = plain.park(jobs) / 1000
    finally:
        plain.close()
        coded.close()
    return [
        _row("core: no-op job, messages as objects", seconds["plain"], seconds["floor"], demand=0.1),
        _row("core: no-op job, messages as msgpack", seconds["coded"], seconds["floor"], demand=0.02),
        Row("core: a job in flight, kB", f"{weight:.1f} kB", "", weight, 10),
    ]


def _row(what: str, ours: list[float], floor: list[float], *, demand: float) -> Row:
    speed = statistics.median([least / mine for mine, least in zip(ours, floor, strict=True)])
    return Row(what, _rate(ours), _rate(floor), speed, demand, at_least=True)


def _rate(seconds: list[float]) -> str:
    return f"{1 / statistics.median(seconds):,.0f} jobs/s"
