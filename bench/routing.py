"""How evenly the pool spreads rollouts: a simulator in which a rollout loads its backend for its whole life.

One rollout arrives a tick. The floor always knows the truth: it takes the backend whose live rollouts ÷ speed would
be least. The counter is what a router does that never hears of an end: it goes round.
"""

import heapq
import random
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from adapters import Router
from report import Row

__all__ = ["measure"]

BACKENDS, ROLLOUTS = 8, 4000
UNEVEN = (2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5)


class Picks(Protocol):
    """What a router does in the simulator."""

    def pick(self, task: Any, tokens: float, now: float) -> int: ...
    def release(self, task: Any, index: int, tokens: float, now: float) -> None: ...


class Least:
    """The floor: least live rollouts ÷ speed, counting the one to be placed."""

    def __init__(self, speeds: Sequence[float]) -> None:
        self._speeds = speeds
        self._live = [0] * len(speeds)

    def pick(self, task: Any, tokens: float, now: float) -> int:
        """The least busy."""
        index = min(range(len(self._live)), key=lambda i: (self._live[i] + 1) / self._speeds[i])
        self._live[index] += 1
        return index

    def release(self, task: Any, index: int, tokens: float, now: float) -> None:
        """It has ended."""
        self._live[index] -= 1


class Evenness(NamedTuple):
    """Means over all arrivals: busiest less idlest (÷ speed), coefficient of variation; and the highest load."""

    gap: float
    variation: float
    peak: float


def simulate(router: Picks, speeds: Sequence[float], lifetimes: Sequence[float]) -> Evenness:
    """Let every rollout arrive, live and end."""
    ends: list[tuple[float, int, int]] = []
    live = [0] * len(speeds)
    gaps, variations, peak = [], [], 0
    for now, lifetime in enumerate(lifetimes):
        while ends and ends[0][0] <= now:
            _, task, index = heapq.heappop(ends)
            live[index] -= 1
            router.release(task, index, lifetimes[task], now)
        index = router.pick(now, lifetime, now)
        live[index] += 1
        heapq.heappush(ends, (now + max(1.0, lifetime / speeds[index]), now, index))
        loads = [count / speed for count, speed in zip(live, speeds, strict=True)]
        gaps.append(max(loads) - min(loads))
        variations.append(statistics.pstdev(live) / statistics.fmean(live))
        peak = max(peak, *live)
    return Evenness(statistics.fmean(gaps), statistics.fmean(variations), peak)


def measure() -> list[Row]:
    """Rows for lifetimes with a heavy tail, for long ones that come in step, and for unequal speeds."""
    chance = random.Random(0)
    heavy = [float(max(1, int(chance.lognormvariate(2.5, 1.4)))) for _ in range(ROLLOUTS)]
    stepped = [400.0 if number % BACKENDS == 0 else 10.0 for number in range(ROLLOUTS)]
    equal = (1.0,) * BACKENDS
    tail, tail_floor = _both(equal, heavy)
    step, step_floor = _both(equal, stepped)
    uneven, uneven_floor = _both(UNEVEN, heavy)
    return [
        _row("routing: heavy tail, gap", tail.gap, tail_floor.gap, 1.15),
        _row("routing: heavy tail, variation", tail.variation, tail_floor.variation, 0.13),
        _row("routing: long ones in step, gap", step.gap, step_floor.gap, 1.05),
        _row("routing: long ones in step, peak", step.peak, step_floor.peak, 8),
        _row("routing: unequal speeds, gap ÷ speed", uneven.gap, uneven_floor.gap, 1.2),
    ]


def _both(speeds: Sequence[float], lifetimes: Sequence[float]) -> tuple[Evenness, Evenness]:
    ours = simulate(Router(len(speeds), speeds), speeds, lifetimes)
    return ours, simulate(Least(speeds), speeds, lifetimes)


def _row(what: str, ours: float, floor: float, demand: float) -> Row:
    return Row(what, f"{ours:.3f}", f"{floor:.3f}", ours, demand)
