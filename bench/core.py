"""How much a job costs beside its work: no-op jobs through gateway and engine, without HTTP and without a model.

The floor is the least that could do it: a coroutine that takes and gives back the same three permits. Each round runs
every candidate once, in random order, so that what else the machine does hits all alike. Judge ratios, not rates: the
same core differs by a factor of three between runs.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from raas_sdk.gateway import Gateway, admit, open_service
from raas_sdk.result import Outcome
from raas_sdk.settings import Settings
from raas_sdk.testing.fake_backend import FakeBackend

PLUGIN = str(Path(__file__).with_name("noop_plugin.py"))
BODY = {"instance": {"data_source": "noop", "prompt": "nothing to do"}}

# A floor's round must last long enough to be measured beside rounds that take tens of times longer.
FLOOR_TIMES = 20


@dataclass
class Candidate:
    """A way to move jobs; `times` as many of them in a round as others. `seconds` of one job, by round."""

    name: str
    run: Callable[[int], Awaitable[None]]
    times: int = 1
    seconds: list[float] = field(default_factory=list)


async def main() -> None:
    """Measure, and print one table."""
    arguments = _arguments()
    async with candidates() as found:
        await measure(found, jobs=arguments.jobs, rounds=arguments.rounds)
    print(table(found))


@asynccontextmanager
async def candidates() -> AsyncIterator[list[Candidate]]:
    """The floor first, then the service with and without encoding its messages."""
    async with AsyncExitStack() as stack:
        # Leased by every job and never called: the task samples nothing.
        backend = await stack.enter_async_context(FakeBackend("vllm"))
        settings = Settings(plugin=(PLUGIN,), entry_points=False, backend=(backend.address,), tokenizer="test:plain")
        plain = await stack.enter_async_context(open_service(settings))
        coded = await stack.enter_async_context(open_service(settings, coded=True))
        sizes = (settings.init_workers, settings.run_workers, settings.eval_workers)
        yield [
            Candidate("floor: three semaphores", lambda jobs: through_semaphores(sizes, jobs), FLOOR_TIMES),
            Candidate("service, messages as objects", lambda jobs: through_service(plain, jobs)),
            Candidate("service, messages as msgpack", lambda jobs: through_service(coded, jobs)),
        ]


async def through_semaphores(sizes: tuple[int, ...], jobs: int) -> None:
    """Move jobs through permits of the same sizes, and nothing else."""
    permits = [asyncio.Semaphore(size) for size in sizes]

    async def move() -> None:
        for permit in permits:
            async with permit:
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(jobs):
            tasks.create_task(move())


async def through_service(gateway: Gateway, jobs: int) -> None:
    """Admit, run and answer jobs; every one must be scored."""
    records = [gateway.submit(admit(BODY, gateway.settings)) for _ in range(jobs)]
    results = await asyncio.gather(*(record.done for record in records))
    failed = [result.failure for result in results if result.outcome is not Outcome.SCORED]
    if failed:
        raise SystemExit(f"{len(failed)} of {jobs} jobs were not scored; the first: {failed[0]}")


async def measure(found: list[Candidate], *, jobs: int, rounds: int) -> None:
    """Run all in every round, in random order; the first round only warms up."""
    for number in range(rounds + 1):
        for candidate in random.sample(found, k=len(found)):
            start = time.perf_counter()
            await candidate.run(jobs * candidate.times)
            if number:
                candidate.seconds.append((time.perf_counter() - start) / (jobs * candidate.times))


def table(found: list[Candidate]) -> str:
    """Medians over rounds; the ratio to the floor is taken within each round."""
    floor = found[0].seconds
    lines = [f"{'':<32}{'jobs/s':>10}{'us a job':>10}{'x floor':>10}{'lowest':>9}{'highest':>9}"]
    for candidate in found:
        ratios = [ours / least for ours, least in zip(candidate.seconds, floor, strict=True)]
        middle = statistics.median(candidate.seconds)
        figures = f"{1 / middle:>10,.0f}{middle * 1e6:>10.0f}{statistics.median(ratios):>10.1f}"
        lines.append(f"{candidate.name:<32}{figures}{min(ratios):>9.1f}{max(ratios):>9.1f}")
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="No-op jobs through gateway and engine, beside a floor.")
    parser.add_argument("--jobs", type=int, default=1000, help="jobs of each candidate in a round")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
