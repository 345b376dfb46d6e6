"""A whole service around one plugin, and rollouts through it that can be made to go wrong."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from raas_sdk.engine import RuntimeChooser
from raas_sdk.gateway import Gateway, admit, open_service
from raas_sdk.hooks import Plugins
from raas_sdk.result import Result
from raas_sdk.settings import Settings
from raas_sdk.testing.conformance.leftovers import TaskWatch
from raas_sdk.testing.conformance.report import Findings
from raas_sdk.testing.conformance.review import review
from raas_sdk.testing.conformance.steps import StepClock
from raas_sdk.testing.conformance.subject import Subject
from raas_sdk.testing.conformance.trap import Trap, TrappedGraders, TrappedRuntime
from raas_sdk.testing.conformance.watcher import Orders, Visit, Watcher
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.testing.faults import Faults
from raas_sdk.tokens import load_renderer
from raas_sdk.workspace import Runtime

__all__ = ["PATIENT", "Plan", "Rig", "Rollout"]

GRACE_SECONDS = 1.0
PATIENT = dict.fromkeys(("init_seconds", "run_seconds", "eval_seconds"), 60.0)
"""Limits whose budgets end nothing before the check does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """With what the plugin is checked. `replies` are played to it turn by turn."""

    instance: Mapping[str, Any]
    replies: Sequence[str]
    scripted: bool
    tokenizer: str
    runtime: Runtime
    patience_seconds: float
    optional: frozenset[str] = frozenset()


@dataclass(slots=True)
class Rollout:
    """One job as it went: its result, the stages as seen from outside, model calls and sandboxes it took."""

    result: Result
    visits: list[Visit]
    calls: int = 0
    sandboxes: int = 0

    @property
    def graded(self) -> tuple[Any, ...]:
        """What the grader said, to be compared."""
        return (self.result.reward, self.result.resolved, dict(self.result.reward_parts))

    def waits(self, hook: str) -> int:
        """How often this hook waited for something."""
        return sum(visit.waits for visit in self.visits if visit.hook == hook)


@dataclass(slots=True)
class Rig:
    """Use `Rig.open`; every rollout has an inference server and a pool of its own."""

    subject: Subject
    plan: Plan
    settings: Settings
    plugins: Plugins
    gateway: Gateway
    watcher: Watcher
    trap: Trap
    clock: StepClock
    tasks: TaskWatch
    findings: Findings
    budget_seconds: float
    rollouts: int = 0
    good: Rollout | None = None
    encode: Any = field(init=False)
    end: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        renderer = load_renderer(self.plan.tokenizer)
        self.encode, self.end = renderer.encode, renderer.stop_token_ids[:1]

    @classmethod
    @asynccontextmanager
    async def open(
        cls, subject: Subject, plan: Plan, *, findings: Findings, clock: StepClock, folder: Path
    ) -> AsyncIterator["Rig"]:
        """Load the plugin, start the service, and close it after use."""
        flags = {"tokenizer": plan.tokenizer, "grace_seconds": GRACE_SECONDS, "grade_workers": 1}
        settings = subject.service_settings(folder, **flags)
        watcher, trap, tasks = Watcher(clock), Trap(), TaskWatch()
        plugins = subject.load(settings, watcher, plan.instance.get("data_source"))
        chooser = RuntimeChooser("checked", allow_unsafe=True, runtimes={"checked": TrappedRuntime(plan.runtime, trap)})
        with tasks.watching():
            graders = TrappedGraders(1, trap)
            async with open_service(
                settings, plugins=plugins, runtimes=chooser, graders=graders, coded=True
            ) as gateway:
                made = (settings, plugins, gateway, watcher, trap, clock, tasks, findings, plan.patience_seconds)
                yield cls(subject, plan, *made)

    async def rollout(
        self, replies: Sequence[str] | None = None, *, orders: Orders | None = None, **body: Any
    ) -> Rollout:
        """Run one job to its end and look it over.

        `body` goes into the request, `faults` to the server; `nested` is a job that runs inside another.
        """
        faults, nested = body.pop("faults", None), body.pop("nested", False)
        body.setdefault("limits", {})
        self.rollouts += 1
        name = f"check-{self.rollouts}"
        if orders is not None:
            self.watcher.orders[name] = orders
        opened = self.trap.opened
        async with self._served(name, replies or self.plan.replies, faults) as backend:
            result = await self._submit(name, body)
            rollout = Rollout(result, self.watcher.visits.pop(name, []), len(backend.calls), self.trap.opened - opened)
        self.watcher.orders.pop(name, None)
        await self._settle()
        review(rollout.result, rollout.visits, self.findings)
        for hook, work in [] if nested else await self.tasks.left():
            advice = "await what you start (asyncio.TaskGroup), also when cancelled"
            self.findings.error(hook, f"leaves a task behind: {work} still runs when the stage is over", advice)
        return rollout

    async def regrade(self, submission: Any, orders: Orders | None = None, **body: Any) -> Rollout:
        """Grade stored work as a fresh job: no INIT, no RUN."""
        given = orders or Orders()
        given.submission, given.grades_only = submission, True
        return await self.rollout(orders=given, **body)

    def cancel_now(self) -> None:
        """Cancel the rollout under way."""
        asyncio.get_running_loop().call_soon(self.gateway.cancel, f"check-{self.rollouts}")

    async def _submit(self, name: str, body: Mapping[str, Any]) -> Result:
        instance = body.get("instance", self.plan.instance)
        most = {
            "max_turns": len(self.plan.replies),
            "infra_retries": 0,
            "collect_seconds": min(1.0, self.budget_seconds),
        }
        stages = dict.fromkeys(("init_seconds", "run_seconds", "eval_seconds"), self.budget_seconds)
        request = {
            "instance": instance,
            "job_id": name,
            "pool": name,
            "sampling_params": {"temperature": 1.0, "seed": 1},
        }
        limits = {**most, **stages, **body["limits"]}
        return await self.gateway.submit(admit({**request, "limits": limits}, self.settings)).done

    @asynccontextmanager
    async def _served(self, name: str, replies: Sequence[str], faults: Faults | None) -> AsyncIterator[FakeBackend]:
        script = [[*self.encode(reply), *self.end] for reply in replies]
        async with FakeBackend("vllm", script=script, faults=faults) as backend:
            self.gateway.add_backend(backend.address, pool=name, wire="vllm")
            try:
                yield backend
            finally:
                self.gateway.clear_backends(name)

    async def _settle(self) -> None:
        """Let what is under way arrive; it needs no more than turns of the event loop."""
        for _ in range(20):
            await asyncio.sleep(0)
