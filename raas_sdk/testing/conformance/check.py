"""The calls that check a plugin: from a test, from an event loop, from the command line."""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from raas_sdk.engine import RuntimeChooser
from raas_sdk.testing.conformance.leftovers import ProcessTraces, scratch_folder
from raas_sdk.testing.conformance.lifecycle import check_loading
from raas_sdk.testing.conformance.report import CheckReport, Findings
from raas_sdk.testing.conformance.rig import Plan
from raas_sdk.testing.conformance.steps import StepClock
from raas_sdk.testing.conformance.subject import Subject
from raas_sdk.testing.conformance.walk import Walk
from raas_sdk.testing.fake_runtime import FakeRuntime
from raas_sdk.workspace import Runtime

__all__ = ["assert_plugin_ok", "check_plugin", "check_plugin_async"]

NO_SCRIPT = ("I do not know.",) * 3
STUCK_SECONDS = 5.0


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


async def _walked(subject: Subject, plan: Plan, findings: Findings) -> int:
    """Load, walk, look at what is left behind, and say how many jobs it took."""
    clock = StepClock(min(plan.patience_seconds, STUCK_SECONDS))
    with scratch_folder(findings) as folder:
        before = ProcessTraces.now()
        going_on = check_loading(subject, plan, findings=findings, folder=folder)
        before.note_import(ProcessTraces.now(), findings)
        before = replace(before, environment=ProcessTraces.now().environment)
        with clock.watching():
            walk = Walk(subject, findings=findings, clock=clock, folder=folder)
            if going_on is not None:
                await walk.take(going_on)
        findings.begin("what is left behind")
        if ProcessTraces.now().files != before.files:
            gc.collect()  # what is only waiting for the collector is not left behind
        before.compare(ProcessTraces.now(), findings)
    return walk.rollouts


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _runtime(wanted: str | Runtime) -> Runtime:
    if not isinstance(wanted, str):
        return wanted
    return FakeRuntime() if wanted == "fake" else await RuntimeChooser(wanted, allow_unsafe=True).choose()
