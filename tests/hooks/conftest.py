import pytest

from raas_sdk import Reward, TaskHandler, hookimpl
from raas_sdk.hooks import load_plugins


class Task:
    """A task plugin that does as little as is allowed."""

    sources = ("task",)

    @hookimpl
    def raas_data_sources(self):
        return self.sources

    @hookimpl
    async def raas_run(self, job):
        return "done"

    @hookimpl
    async def raas_eval(self, trajectory):
        return Reward(1.0)


class Handler(TaskHandler):
    data_sources = ("handled",)

    async def run(self, job, host, workspace, policy):
        return {"workspace": workspace.runtime}

    async def eval(self, job, host, trajectory):
        return Reward(0.5)


@pytest.fixture
def task():
    """Makes a task plugin for these data sources, with these attributes beside or instead of its own."""

    def make(*sources, **attributes):
        return type("Made", (Task,), {"sources": sources or ("task",), **attributes})()

    return make


@pytest.fixture
def handler():
    return Handler


@pytest.fixture
def load(as_plugin, settings_of):
    """Loads plugins: keyword = name, value = plugin; settings under `flags`."""

    def loaded(flags=None, **plugins):
        named = tuple(as_plugin(plugin, name) for name, plugin in plugins.items())
        return load_plugins(settings_of(plugin=named, **(flags or {})))

    return loaded


@pytest.fixture
def fault_of(load):
    """Loads one plugin that must be refused; gives the reason that the report shows."""

    def fault(plugin, **flags):
        (report,) = load(flags, odd=plugin).reports
        assert (report.name, report.kind, report.data_sources) == ("odd", "broken", ())
        return report.error

    return fault
