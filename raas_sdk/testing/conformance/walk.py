"""The walk through all hooks of one plugin, step by step, until a step leaves nothing to go on with."""

from pathlib import Path
from typing import Any

from raas_sdk.hooks.validation import ANNOUNCEMENTS
from raas_sdk.testing.conformance.decisions import check_decisions
from raas_sdk.testing.conformance.faulty import check_backend_faults, check_grader_fault, check_sandbox_faults
from raas_sdk.testing.conformance.grading import check_good_rollout, check_regrading, check_sharing
from raas_sdk.testing.conformance.instances import check_instances
from raas_sdk.testing.conformance.lifecycle import check_closing, opened
from raas_sdk.testing.conformance.report import Findings
from raas_sdk.testing.conformance.rig import Plan, Rig
from raas_sdk.testing.conformance.steps import StepClock
from raas_sdk.testing.conformance.stops import check_cancels, check_limits, check_time_outs
from raas_sdk.testing.conformance.subject import Subject

__all__ = ["Walk"]

NOT_THE_LOOP = (
    "await asyncio.to_thread, host.grade or an asynchronous library, never a call that waits or computes long"
)


class Walk:
    """One walk; `rollouts` counts the jobs that it took."""

    def __init__(self, subject: Subject, *, findings: Findings, clock: StepClock, folder: Path) -> None:
        self.rollouts = 0
        self._subject = subject
        self._findings = findings
        self._with: dict[str, Any] = {"findings": findings, "folder": folder}
        self._clock = clock

    async def take(self, plan: Plan) -> None:
        """Go as far as the plugin lets."""
        self._findings.begin("start-up and shutdown")
        async with opened(self._subject, plan, clock=self._clock, **self._with) as rig:
            went_well = rig is not None and bool(plan.instance) and await self._through_jobs(rig)
        if rig is not None:
            await check_closing(self._subject, plan, **self._with)
        if rig is not None and went_well:
            await self._after_restart(plan, rig)
        _note_blocked(self._clock, self._findings)

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
