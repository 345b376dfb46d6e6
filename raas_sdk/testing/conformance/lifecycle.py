"""Loading, starting and closing a plugin, outside of any job."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from raas_sdk.engine import RuntimeChooser
from raas_sdk.engine.host import HostServices, Labels, PluginHost
from raas_sdk.engine.supervision import Supervisor
from raas_sdk.errors import UnknownSource
from raas_sdk.hooks import Plugins
from raas_sdk.hooks.validation import HOOKS
from raas_sdk.testing.conformance.report import Findings
from raas_sdk.testing.conformance.rig import Plan, Rig
from raas_sdk.testing.conformance.steps import StepClock
from raas_sdk.testing.conformance.subject import Subject
from raas_sdk.testing.conformance.trap import Trap, TrappedGraders, TrappedRuntime
from raas_sdk.testing.conformance.watcher import Watcher
from raas_sdk.verdict import classify

__all__ = ["check_closing", "check_loading", "opened"]

START = "open in raas_startup only what lasts for the engine's life; sandboxes belong into raas_init"


def check_loading(subject: Subject, plan: Plan, *, findings: Findings, folder: Path) -> Plan | None:
    """Load it; the plan with a data source, or None if there is nothing to go on with."""
    findings.begin("loading and registration")
    plugins = subject.load(subject.service_settings(folder), Watcher(StepClock(1.0)), None)
    report = subject.report(plugins)
    if report.error is not None:
        findings.error(_hook_in(report.error), report.error, "mend what the message names; raas plugins shows the same")
        return None
    if report.kind == "wrapper" or not plan.instance:
        return plan
    return _addressed(plan, plugins, report.data_sources, findings)


@asynccontextmanager
async def opened(
    subject: Subject, plan: Plan, *, findings: Findings, clock: StepClock, folder: Path
) -> AsyncIterator[Rig | None]:
    """A rig with the plugin started; None, with a finding, if it does not start."""
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(plan.patience_seconds):
                opening = Rig.open(subject, plan, findings=findings, clock=clock, folder=folder)
                rig = await stack.enter_async_context(opening)
        except TimeoutError:
            findings.error("raas_startup", f"does not end within {plan.patience_seconds:g} s", START)
            yield None
            return
        refused = subject.report(rig.plugins).error
        reason = rig.gateway.unavailable.get(subject.name)
        if refused is not None:
            findings.error("registration", f"cannot be loaded a second time: {refused}", "do nothing at import")
        elif reason is not None:
            findings.error("raas_startup", reason, START)
        yield rig if refused is None and reason is None else None


async def check_closing(subject: Subject, plan: Plan, *, findings: Findings, folder: Path) -> None:
    """Call raas_shutdown without a start-up before it, as happens when that failed."""
    settings = subject.service_settings(folder)
    plugins = subject.load(settings, Watcher(StepClock(plan.patience_seconds)), None)
    if not subject.implements(plugins, "raas_shutdown"):
        return
    findings.begin("raas_shutdown without raas_startup")
    trap = Trap()
    chooser = RuntimeChooser("checked", allow_unsafe=True, runtimes={"checked": TrappedRuntime(plan.runtime, trap)})
    services = HostServices(chooser, TrappedGraders(1, trap))
    labels = Labels(subject.name, "-", "raas_shutdown")
    host = PluginHost(services, settings=plugins.settings.get(subject.name), labels=labels)
    try:
        await Supervisor("raas_shutdown", plan.patience_seconds).run(_shut_down(plugins, subject, host))
    except Exception as error:  # noqa: BLE001 - foreign code; what it raised is the finding
        advice = "close only what is open; it is called also when raas_startup failed, and may come twice"
        findings.error("raas_shutdown", classify(error, stage="shutdown").message, advice)


async def _shut_down(plugins: Plugins, subject: Subject, host: PluginHost) -> None:
    awaitable: Any = plugins.own_hook(subject.name, "raas_shutdown")(host=host)
    if inspect.isawaitable(awaitable):
        await awaitable


def _addressed(plan: Plan, plugins: Plugins, sources: tuple[str, ...], findings: Findings) -> Plan | None:
    named = plan.instance.get("data_source")
    exact = next((source for source in sources if "*" not in source and "?" not in source), None)
    if named is None and exact is not None:
        return _with_source(plan, exact)
    try:
        plugins.route(str(named))
    except UnknownSource as error:
        findings.error("raas_data_sources", str(error), "give an instance whose data_source the plugin serves")
        return None
    return plan


def _with_source(plan: Plan, source: str) -> Plan:
    return replace(plan, instance={"data_source": source, **plan.instance})


def _hook_in(text: str) -> str:
    """The hook that a refusal is about."""
    return next((hook for hook in sorted(HOOKS, key=len, reverse=True) if hook in text), "registration")
