"""The walk through all hooks of one plugin, step by step, until a step leaves nothing to go on with."""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from raas_sdk.engine import RuntimeChooser
from raas_sdk.hooks.validation import ANNOUNCEMENTS
from raas_sdk.testing.conformance.decisions import check_decisions
from raas_sdk.testing.conformance.faulty import check_backend_faults, check_grader_fault, check_sandbox_faults
from raas_sdk.testing.conformance.grading import check_good_rollout, check_regrading, check_sharing
from raas_sdk.testing.conformance.instances import check_instances
from raas_sdk.testing.conformance.leftovers import ProcessTraces, scratch_folder
from raas_sdk.testing.conformance.lifecycle import check_closing, check_loading, opened
from raas_sdk.testing.conformance.report import CheckReport, Findings
from raas_sdk.testing.conformance.rig import Plan, Rig
from raas_sdk.testing.conformance.steps import StepClock
from raas_sdk.testing.conformance.stops import check_cancels, check_limits, check_time_outs
from raas_sdk.testing.conformance.subject import Subject
from raas_sdk.testing.fake_runtime import FakeRuntime
from raas_sdk.workspace import Runtime

__all__ = ["assert_plugin_ok", "check_plugin", "check_plugin_async"]

NO_SCRIPT = ("I do not know.",) * 3
STUCK_SECONDS = 5.0
NOT_THE_LOOP = (
    "await asyncio.to_thread, host.grade or an asynchronous library, never a call that waits or computes long"
)


async def check_plugin_async(
    plugin: Any,
    *,
    instance: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None = None,
    script: Sequence[str] | None = None,
    runtime: str | Runtime = "fake",
    tokenizer: str = "test:chatml",
    optional: Sequence[str] = (),
    patience_seconds: float = 30.0,
) -> CheckReport:
    """Walk every hook of `plugin` through a real service and report what breaks the contract.

    `plugin` is `module[:attr]`, a path, an installed plugin's name, or the plugin itself. `script` are replies
    that solve `instance`; without an instance only loading, start-up and shutdown are checked. `settings` is the
    plugin's own section. `runtime` "fake" gives sandboxes in memory; a FakeRuntime says what is in them, and a
    name ("auto", "bubblewrap") opens real ones. `optional` names fields of the instance that may be left out.
    No stage may take longer than `patience_seconds`. Call it from the main thread: only there can the check end
    code that never returns to the event loop.
    """
    subject, findings = Subject.named(plugin, settings), Findings()
    plan = Plan(
        instance=dict(instance or {}),
        replies=tuple(script or NO_SCRIPT),
        scripted=script is not None,
        tokenizer=tokenizer,
        runtime=await _runtime(runtime),
        patience_seconds=patience_seconds,
        optional=frozenset(optional),
    )
    rollouts = await _walked(subject, plan, findings)
    return CheckReport(subject.name, tuple(findings), tuple(findings.checks), rollouts)


def check_plugin(plugin: Any, *, instance: Mapping[str, Any] | None, **options: Any) -> CheckReport:
    """Do what `check_plugin_async` does, in an event loop of its own.

    In a test: `check_plugin("my_module:plugin", instance={...}, script=[...]).raise_for_faults()`.
    """
    if _is_loop_running():
        raise RuntimeError("an event loop runs here already; write: await check_plugin_async(...)")
    return asyncio.run(check_plugin_async(plugin, instance=instance, **options))


def assert_plugin_ok(plugin: Any, *, instance: Mapping[str, Any] | None, **options: Any) -> None:
    """Raise AssertionError that shows every finding if the plugin breaks its contract; as `check_plugin`."""
    check_plugin(plugin, instance=instance, **options).raise_for_faults()


class Walk:
    """One walk; `rollouts` counts the jobs that it took."""

    def __init__(self, subject: Subject, plan: Plan, *, findings: Findings, clock: StepClock, folder: Path) -> None:
        self.rollouts = 0
        self._subject = subject
        self._plan = plan
        self._findings = findings
        self._with: dict[str, Any] = {"findings": findings, "folder": folder}
        self._clock = clock

    async def take(self) -> None:
        """Go as far as the plugin lets."""
        plan = check_loading(self._subject, self._plan, **self._with)
        if plan is None:
            return
        self._findings.begin("start-up and shutdown")
        async with opened(self._subject, plan, clock=self._clock, **self._with) as rig:
            went_well = rig is not None and bool(plan.instance) and await self._through_jobs(rig)
        if rig is not None:
            await check_closing(self._subject, plan, **self._with)
        if rig is not None and went_well:
            await self._after_restart(plan, rig)

    async def _through_jobs(self, rig: Rig) -> bool:
        try:
            if not await check_good_rollout(rig) or await self._blocks_again(rig):
                return False
            if await check_regrading(rig, "at once"):
                await check_sharing(rig)
                await check_regrading(rig, "after other jobs")
            await check_limits(rig)
            await check_cancels(rig)
            await check_time_outs(rig)
            await check_backend_faults(rig)
            await check_sandbox_faults(rig)
            await check_grader_fault(rig)
            await check_decisions(rig)
            await check_instances(rig)
            return True
        finally:
            self.rollouts += rig.rollouts
            self._note_listeners(rig)

    async def _blocks_again(self, rig: Rig) -> bool:
        """Whether a hook blocks the loop each time: then no budget and no cancel can be told from it."""
        if self._clock.blocked:
            await rig.rollout()
        return bool(self._clock.repeated())

    async def _after_restart(self, plan: Plan, earlier: Rig) -> None:
        async with opened(self._subject, plan, clock=self._clock, **self._with) as rig:
            if rig is not None:
                rig.good = earlier.good
                rig.budget_seconds = earlier.budget_seconds
                await check_regrading(rig, "after a restart")
                self.rollouts += rig.rollouts

    def _note_listeners(self, rig: Rig) -> None:
        heard = [hook for hook in ANNOUNCEMENTS if self._subject.implements(rig.plugins, hook)]
        if heard and rig.gateway.announcements.failed:
            fault = "raises when it is told what happened: what it should hear is lost"
            self._findings.error(", ".join(heard), fault, "let no listener raise; the log has the traceback")


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _walked(subject: Subject, plan: Plan, findings: Findings) -> int:
    """Take the walk, look at what is left behind, and say how many jobs it took."""
    clock = StepClock(min(plan.patience_seconds, STUCK_SECONDS))
    with scratch_folder(findings) as folder:
        before = ProcessTraces.now()
        with clock.watching():
            walk = Walk(subject, plan, findings=findings, clock=clock, folder=folder)
            await walk.take()
        findings.begin("what is left behind")
        gc.collect()
        before.compare(ProcessTraces.now(), findings)
    _note_blocked(clock, findings)
    return walk.rollouts


async def _runtime(wanted: str | Runtime) -> Runtime:
    if not isinstance(wanted, str):
        return wanted
    return FakeRuntime() if wanted == "fake" else await RuntimeChooser(wanted, allow_unsafe=True).choose()


def _note_blocked(clock: StepClock, findings: Findings) -> None:
    """The longest blocked step of each hook; what happened once may have been the machine's doing."""
    repeated = clock.repeated()
    longest = {step.hook: step for step in sorted(clock.blocked, key=lambda step: step.seconds)}
    for hook, step in longest.items():
        place = "" if step.place is None else f" at {step.place}"
        how = "never returns to the event loop" if step.ended_by_force else "blocks the event loop"
        if hook in repeated:
            findings.error(hook, f"{how} ({step.seconds:.1f} s{place})", NOT_THE_LOOP)
        else:
            findings.warn(hook, f"{how} once ({step.seconds:.1f} s{place})", f"import at the top; {NOT_THE_LOOP}")
