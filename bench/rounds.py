"""Measuring side by side: every round runs all candidates once, in random order; the first round only warms up."""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping

__all__ = ["Seconds", "interleaved", "ratio"]

Seconds = dict[str, list[float]]


async def interleaved(candidates: Mapping[str, Callable[[], Awaitable[None]]], *, rounds: int) -> Seconds:
    """Seconds of each candidate by round, the same index being the same round."""
    names = list(candidates)
    seconds: Seconds = {name: [] for name in names}
    for number in range(rounds + 1):
        random.shuffle(names)
        for name in names:
            start = time.perf_counter()
            await candidates[name]()
            if number:
                seconds[name].append(time.perf_counter() - start)
        await asyncio.sleep(0)
    return seconds


def ratio(ours: list[float], floor: list[float]) -> float:
    """The median over rounds of how many times as long ours took."""
    return statistics.median([mine / least for mine, least in zip(ours, floor, strict=True)])
