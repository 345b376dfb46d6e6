"""Loading plugins: each alone, checked, and bound into routes. Nothing happens at import."""

import difflib
import inspect
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pluggy import HookCaller, HookImpl, PluginManager
from pydantic import BaseModel

from raas_sdk.errors import PluginRefused
from raas_sdk.hooks import defaults, hookspecs
from raas_sdk.hooks.discovery import Candidate, find_candidates
from raas_sdk.hooks.listener import Listener
from raas_sdk.hooks.registry import RouteTable
from raas_sdk.hooks.route import InnermostWrapper, Route
from raas_sdk.hooks.validation import (
    HOOKS,
    ROUTED,
    check_hooks,
    check_kinds,
    data_sources_of,
    is_wrapper,
    register,
    settings_of,
)
from raas_sdk.settings import Settings

__all__ = ["PluginReport", "Plugins", "load_plugins"]

INNERMOST = "raas-innermost"
Found = tuple[Candidate, Any]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginReport:
    """What became of one plugin that was found; `kind` is task, wrapper or broken."""

    name: str
    source: str
    version: str | None
    kind: str
    error: str | None = None
    data_sources: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


@dataclass(slots=True)
class Plugins:
    """All loaded plugins: routes by data source, settings by plugin, and a report of each that was found."""

    manager: PluginManager
    table: RouteTable = field(default_factory=RouteTable)
    routes: dict[str, Route] = field(default_factory=dict)
    settings: dict[str, BaseModel | None] = field(default_factory=dict)
    reports: list[PluginReport] = field(default_factory=list)

    def route(self, data_source: str) -> Route:
        """Return the route of a data source; raise UnknownSource."""
        return self.routes[self.table.resolve(data_source)]

    def own_hook(self, plugin: str, hook: str) -> HookCaller:
        """The caller of a hook on that plugin alone."""
        others = [obj for name, obj in self.manager.list_name_plugin() if name != plugin]
        return self.manager.subset_hook_caller(hook, others)

    def loaded(self) -> list[str]:
        """The names of all plugins that were let in."""
        return [report.name for report in self.reports if report.kind != "broken"]

    def touched_by(self, plugin: str) -> list[str]:
        """The task plugins that cannot work without it: itself, or all of them for one that wraps their hooks."""
        if plugin in self.routes:
            return [plugin]
        wraps = [hook for hook in ROUTED if self.own_hook(plugin, hook).get_hookimpls()]
        return list(self.routes) if wraps else []

    def listeners(self, hook: str) -> list[Listener]:
        """The implementations of an announcement hook, to be called one at a time."""
        caller: HookCaller = getattr(self.manager.hook, hook)
        return [Listener(implementation) for implementation in caller.get_hookimpls()]


def load_plugins(settings: Settings, *, candidates: Iterable[Candidate] | None = None) -> Plugins:
    """Import, check and route every plugin: those that the settings name, or just these `candidates`.

    A plugin that fails alone is reported (or refuses the start with `strict`); conflicts between plugins
    always raise PluginRefused, both named.
    """
    manager = PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(defaults, name=defaults.NAME)
    plugins = Plugins(manager)
    found = find_candidates(settings) if candidates is None else candidates
    for candidate, plugin in _in_wrapper_order(_import_all(found, plugins), settings.wrappers):
        _admit(candidate, plugin, plugins, settings)
    _note_stray_settings(plugins, settings)
    # Last of all: a later wrapper marked trylast would come between it and the task plugin.
    manager.register(InnermostWrapper(), name=INNERMOST)
    _bind_routes(plugins, settings)
    broken = [report for report in plugins.reports if report.kind == "broken"]
    if settings.strict and broken:
        raise PluginRefused(f"plugin {broken[0].name!r} ({broken[0].source}) is broken: {broken[0].error}")
    return plugins


def _import_all(candidates: Iterable[Candidate], plugins: Plugins) -> list[Found]:
    found: dict[str, Found] = {}
    for candidate in candidates:
        if candidate.name in found:
            rival = found[candidate.name][0]
            message = f"two plugins are named {candidate.name!r}: {rival.source} and {candidate.source}"
            raise PluginRefused(f"{message}; uninstall one or rename its entry point")
        try:
            found[candidate.name] = (candidate, _instance(candidate.load()))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an import runs foreign code; the report shows it
            found[candidate.name] = (candidate, None)
            _report_broken(plugins, candidate, error)
    return [pair for pair in found.values() if pair[1] is not None]


def _instance(plugin: Any) -> Any:
    return plugin() if inspect.isclass(plugin) else plugin


def _in_wrapper_order(found: list[Found], wanted: Iterable[str]) -> list[Found]:
    """Later registered wrappers run outside, so the first of `wanted` comes last."""
    order = {name: place for place, name in enumerate(wanted)}
    loaded = sorted(candidate.name for candidate, _ in found)
    unknown = [name for name in order if name not in loaded]
    if unknown:
        raise PluginRefused(f"settings.wrappers names {unknown[0]!r}, which is no loaded plugin; loaded: {loaded}")
    ranked = sorted(found, key=lambda pair: (order.get(pair[0].name, len(order)), pair[0].name))
    return ranked[::-1]


def _admit(candidate: Candidate, plugin: Any, plugins: Plugins, settings: Settings) -> None:
    name = candidate.name
    try:
        register(plugins.manager, name, plugin)
        own = {hook: plugins.own_hook(name, hook) for hook in HOOKS}
        check_kinds(name, own)
        sources = data_sources_of(name, own["raas_data_sources"])
        check_hooks(name, sources, own)
        filled = settings_of(name, own["raas_settings"], settings.plugins.get(name, {}))
    except Exception as error:  # noqa: BLE001 - registration hooks are foreign code; the report shows it
        if plugins.manager.has_plugin(name):
            plugins.manager.unregister(name=name)
        _report_broken(plugins, candidate, error)
        return
    plugins.table.claim(name, sources)
    plugins.settings[name] = filled
    hooks = tuple(hook for hook in HOOKS if own[hook].get_hookimpls())
    kind = "task" if sources else "wrapper"
    plugins.reports.append(PluginReport(name, candidate.source, candidate.version, kind, None, sources, hooks))


def _note_stray_settings(plugins: Plugins, settings: Settings) -> None:
    """A section of raas.toml that nobody reads is most likely misspelt."""
    known = [report.name for report in plugins.reports]
    for name in sorted(set(settings.plugins) - set(known)):
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean [plugins.{close[0]}]?" if close else f"found: {sorted(known)}"
        fault = PluginRefused(f"[plugins.{name}] in the settings, but no such plugin was found; {hint}")
        _report_broken(plugins, Candidate(name, "settings", None, lambda: None), fault)


def _report_broken(plugins: Plugins, candidate: Candidate, error: BaseException) -> None:
    text = str(error) if isinstance(error, PluginRefused) else f"{type(error).__name__}: {error}"
    log.error("plugin refused", extra={"plugin": candidate.name, "source": candidate.source, "reason": text})
    plugins.reports.append(PluginReport(candidate.name, candidate.source, candidate.version, "broken", text))


def _bind_routes(plugins: Plugins, settings: Settings) -> None:
    tasks = [report.name for report in plugins.reports if report.kind == "task"]
    plugins.table.alias(settings.routes, tasks)
    by_name = dict(plugins.manager.list_name_plugin())
    for name in tasks:
        rivals = [by_name[other] for other in tasks if other != name]
        if _has_own_init(plugins, name):
            # Without this, an init that forgets 'async' and returns None would silently get the default.
            rivals.append(defaults)
        hooks = {hook: plugins.manager.subset_hook_caller(hook, rivals) for hook in ROUTED}
        found = {hook: _sole(caller) for hook, caller in hooks.items()}
        plugins.routes[name] = Route(name, hooks, {hook: one for hook, one in found.items() if one is not None})
    plugins.reports.sort(key=lambda report: report.name)


def _sole(caller: HookCaller) -> HookImpl | None:
    """The implementation that would be called and nothing else; None if there is none, or a wrapper."""
    found = [one for one in caller.get_hookimpls() if one.plugin_name != INNERMOST]
    return found[0] if len(found) == 1 and not is_wrapper(found[0]) else None


def _has_own_init(plugins: Plugins, name: str) -> bool:
    return any(not is_wrapper(impl) for impl in plugins.own_hook(name, "raas_init").get_hookimpls())
