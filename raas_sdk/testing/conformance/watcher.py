"""A wrapper plugin beside the one that is checked: it sees every stage from outside, and can stand in for one."""

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.job import Job
from raas_sdk.testing.conformance.inside import inside
from raas_sdk.testing.conformance.steps import StepClock, Stepped
from raas_sdk.workspace import EmptyWorkspace

__all__ = ["Orders", "Visit", "Watcher"]


@dataclass(slots=True)
class Visit:
    """One stage of one job: how often it waited for something, and what it did that it should not."""

    hook: str
    waits: int = 0
    swallowed: str | None = None
    changed_payload: bool = False


@dataclass(slots=True)
class Orders:
    """What the watcher does for one job beside watching.

    `before` is awaited when a hook of that name is about to run; `on_wait` hears of each wait of a hook with its
    number; a job with `submission` set skips the plugin's INIT and RUN and is graded for that.
    """

    before: dict[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    on_wait: Callable[[str, int], None] | None = None
    submission: Any = None
    grades_only: bool = False


class Watcher:
    """Registers like any wrapper plugin; `visits` and `orders` are by job_id."""

    def __init__(self, clock: StepClock) -> None:
        self.visits: dict[str, list[Visit]] = defaultdict(list)
        self.orders: dict[str, Orders] = defaultdict(Orders)
        self._clock = clock

    @hookimpl(wrapper=True)
    def raas_init(self, job: Job) -> Generator[None, Any, Any]:
        """Watch INIT, or stand in for it."""
        with self._clock.step("raas_init"):
            work = yield
        if self.orders[job.job_id].grades_only:
            return _instead(work, EmptyWorkspace())
        return self._watched("raas_init", job, work)

    @hookimpl(wrapper=True)
    def raas_run(self, job: Job) -> Generator[None, Any, Any]:
        """Watch RUN, or stand in for it."""
        with self._clock.step("raas_run"):
            work = yield
        orders = self.orders[job.job_id]
        if orders.grades_only:
            return _instead(work, orders.submission)
        return self._watched("raas_run", job, work)

    @hookimpl(wrapper=True)
    def raas_eval(self, job: Job) -> Generator[None, Any, Any]:
        """Watch EVAL."""
        with self._clock.step("raas_eval"):
            work = yield
        return self._watched("raas_eval", job, work)

    @hookimpl(wrapper=True)
    def raas_final_result(self) -> Generator[None, Any, Any]:
        """Time it."""
        with self._clock.step("raas_final_result"):
            return (yield)

    def _watched(self, hook: str, job: Job, work: Any) -> Any:
        """What is no awaitable is handed on as it is, for the service to refuse."""
        return self._watch(hook, job, work) if isinstance(work, Awaitable) else work

    async def _watch(self, hook: str, job: Job, work: Awaitable[Any]) -> Any:
        orders, visit = self.orders[job.job_id], Visit(hook)
        self.visits[job.job_id].append(visit)
        if hook in orders.before:
            await orders.before[hook]()

        def suspended() -> None:
            visit.waits += 1
            if orders.on_wait is not None:
                orders.on_wait(hook, visit.waits)

        token = inside.set(hook)
        before = repr(job.instance.payload)
        try:
            value = await Stepped(work, self._clock, hook, suspended)
            visit.swallowed = "returned" if _is_cancelled() else None
            return value
        except Exception as error:
            visit.swallowed = f"raised {type(error).__name__}" if _is_cancelled() else None
            raise
        finally:
            visit.changed_payload = repr(job.instance.payload) != before
            inside.reset(token)


async def _instead(work: Any, value: Any) -> Any:
    if inspect.iscoroutine(work):
        work.close()
    return value


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
