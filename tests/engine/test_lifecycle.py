"""raas_startup and raas_shutdown: each plugin for itself, bounded, contained."""

import asyncio

import pytest
from pydantic import BaseModel

from raas_sdk import hookimpl
from raas_sdk.errors import PluginUnavailable
from raas_sdk.hooks import load_plugins


def noting(log, error=None):
    async def hook(self, host):
        log.append(host.settings)
        if error is not None:
            raise error

    return hook


async def test_a_plugin_is_started_once_with_its_settings_and_stopped_once(service, task):
    class Mine(BaseModel):
        depth: int

    log = []
    hooks = {"startup": noting(log), "shutdown": noting(log), "settings": lambda self: Mine}
    async with service(task(**hooks), plugins={"task": {"depth": 7}}) as s:
        assert [model.depth for model in log] == [7]
        assert (await s.result()).outcome == "scored"
    assert len(log) == 2


async def test_settings_reach_every_hook_through_the_host(service, task):
    class Mine(BaseModel):
        answer: int = 3

    async def run(self, host):
        host.log.info("running")
        return host.settings.answer

    async with service(task(run=run, settings=lambda self: Mine)) as s:
        assert (await s.result()).trajectory.submission == 3


@pytest.mark.parametrize(
    "error", [OSError("no licence"), SystemExit(2), KeyboardInterrupt(), asyncio.CancelledError(), BaseException("odd")]
)
async def test_a_plugin_that_cannot_start_is_unavailable_alone_and_still_stopped(service, task, error):
    log = []
    bad = task("bad", startup=noting(log, error), shutdown=noting(log))
    async with service(("bad", bad), ("good", task("good"))) as s:
        with pytest.raises(PluginUnavailable, match="'bad'"):
            s.submit(source="bad")
        assert (await s.result(source="good")).outcome == "scored"
        assert list(s.gateway.status()["unavailable"]) == ["bad"]
    assert len(log) == 2


async def test_a_wrapper_is_started_too_and_without_it_what_it_wraps_is_unavailable(service, task):
    started = []

    class Cache:
        @hookimpl
        async def raas_startup(self, host):
            started.append(host)
            raise OSError("cache is full")

        @hookimpl(wrapper=True)
        def raas_run(self):
            return (yield)

    async with service(task(), ("cache", Cache())) as s:
        assert len(started) == 1
        with pytest.raises(PluginUnavailable, match="cache is full"):
            s.submit()


async def test_a_listener_that_cannot_start_touches_nobody(service, task):
    class Listener:
        @hookimpl
        async def raas_startup(self):
            raise OSError("no log")

        @hookimpl
        def raas_job_finished(self, job_id): ...

    async with service(task(), ("listener", Listener())) as s:
        assert (await s.result()).outcome == "scored"


async def test_a_plugin_that_fails_to_stop_does_not_keep_others_from_it(service, task):
    log = []
    bad, good = task("bad", shutdown=noting(log, OSError("stuck"))), task("good", shutdown=noting(log))
    async with service(("bad", bad), ("good", good)):
        pass
    assert len(log) == 2


async def test_an_engine_without_the_jobs_plugin_answers_instead_of_letting_it_hang(service, task, settings_of):
    async with service(task()) as s:
        s.engine._services.plugins = load_plugins(settings_of())
        result = await s.result()
        assert (result.outcome, result.failure.stage) == ("infra_error", "engine")
