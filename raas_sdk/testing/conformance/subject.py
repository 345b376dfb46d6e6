"""The plugin that is checked: found by name, by place or given as an object, and loaded beside the watcher."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from raas_sdk.hooks import PluginReport, Plugins, load_plugins
from raas_sdk.hooks.discovery import GROUP, Candidate, named_candidate
from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.hooks.host import Host
from raas_sdk.hooks.validation import HOOKS
from raas_sdk.policy import Policy
from raas_sdk.reward import Reward
from raas_sdk.settings import Settings, load_settings
from raas_sdk.testing.conformance.watcher import Watcher
from raas_sdk.trajectory import Trajectory

__all__ = ["WATCHER", "Subject"]

WATCHER = "raas-check"


@dataclass(frozen=True, slots=True)
class Subject:
    """What to load: the plugin, its own settings, and a name for reports."""

    candidate: Candidate
    settings: Mapping[str, Any]

    @classmethod
    def named(cls, plugin: Any, settings: Mapping[str, Any] | None) -> "Subject":
        """From an installed plugin's name, `module[:attr]`, a path, or the plugin itself."""
        candidate = _by_text(plugin) if isinstance(plugin, str) else _given(plugin)
        return cls(candidate, dict(settings or {}))

    @property
    def name(self) -> str:
        """The plugin's name."""
        return self.candidate.name

    def service_settings(self, folder: Path, **flags: Any) -> Settings:
        """Settings of a service that nothing but the check has touched."""
        sections = {self.name: self.settings} if self.settings else {}
        given = {"runtime": "checked", "allow_unsafe_runtime": True, "entry_points": False, "plugins": sections}
        return load_settings({**given, "wrappers": (WATCHER,), **flags}, environ={}, folder=folder)

    def load(self, settings: Settings, watcher: Watcher, data_source: str | None) -> Plugins:
        """Load it; a wrapper plugin gets a task to wrap if the instance's data source is known."""
        alone = load_plugins(settings.model_copy(update={"wrappers": ()}), candidates=[self.candidate])
        candidates = [self.candidate, Candidate(WATCHER, "check", None, lambda: watcher)]
        if alone.reports[0].kind == "wrapper" and data_source is not None:
            candidates.append(Candidate("raas-check-task", "check", None, lambda: WrappedTask(data_source)))
        return load_plugins(settings, candidates=candidates)

    def report(self, plugins: Plugins) -> PluginReport:
        """What became of it."""
        return next(report for report in plugins.reports if report.name == self.name)

    def implements(self, plugins: Plugins, hook: str) -> bool:
        """Whether it has this hook."""
        return hook in HOOKS and bool(plugins.own_hook(self.name, hook).get_hookimpls())


class WrappedTask:
    """A task that a wrapper plugin can wrap: asks the policy once and is content with any answer."""

    def __init__(self, data_source: str) -> None:
        self._data_source = data_source

    @hookimpl
    def raas_data_sources(self) -> list[str]:
        """The data source of the instance at hand."""
        return [self._data_source]

    @hookimpl
    async def raas_run(self, policy: Policy) -> str:
        """Ask once."""
        turn = await policy.conversation([{"role": "user", "content": "Say something."}]).sample()
        return turn.text

    @hookimpl
    async def raas_eval(self, trajectory: Trajectory, host: Host) -> Reward:
        """Like it."""
        return Reward(1.0)


def _by_text(text: str) -> Candidate:
    for point in entry_points(group=GROUP):
        if point.name == text:
            return Candidate(text, f"entry point {point.value}", None, point.load)
    place, colon, attr = text.partition(":")
    # Absolute, because it is loaded again and a plugin may have moved the process elsewhere.
    return named_candidate(f"{Path(place).resolve()}{colon}{attr}" if Path(place).exists() else text)


def _given(plugin: Any) -> Candidate:
    kind = plugin if inspect.isclass(plugin) else type(plugin)
    name = plugin.__name__.rpartition(".")[2] if inspect.ismodule(plugin) else kind.__name__
    return Candidate(name, "given", None, lambda: plugin)
