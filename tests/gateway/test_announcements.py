import asyncio
import threading

import pytest

from raas_sdk import Stage, hookimpl
from raas_sdk.gateway.announcements import Announcements
from raas_sdk.hooks import load_plugins


class Listener:
    """Notes all it hears; `fail` is raised at every call, `hold` blocks it."""

    def __init__(self, fail=None, hold=None):
        self.heard, self.fail, self.hold = [], fail, hold

    def note(self, *facts):
        self.heard.append(facts)
        if self.hold is not None:
            self.hold.wait()
        if self.fail is not None:
            raise self.fail

    @hookimpl
    def raas_job_started(self, job_id, data_source, attempt):
        self.note("started", job_id, data_source, attempt)

    @hookimpl
    def raas_stage_finished(self, job_id, stage, seconds):
        assert isinstance(stage, Stage) and seconds >= 0
        self.note("stage", job_id, stage)

    @hookimpl
    def raas_turn_finished(self, turn, job_id):
        self.note("turn", job_id, turn.text)

    @hookimpl
    def raas_job_finished(self, result):
        self.note("finished", result["job_id"], result["outcome"])


WAY = [
    ("started", "j", "task", 1),
    ("stage", "j", "init"),
    ("turn", "j", "hi"),
    ("stage", "j", "run"),
    ("stage", "j", "eval"),
    ("finished", "j", "scored"),
]


async def test_listeners_hear_a_job_in_order(service, task):
    listener = Listener()
    async with service(task(), ("ears", listener)) as s:
        await s.result("j")
    assert listener.heard == WAY


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1), KeyboardInterrupt(), BaseException("odd")])
async def test_a_listener_that_raises_touches_neither_jobs_nor_other_listeners(service, task, error):
    bad, good = Listener(fail=error), Listener()
    async with service(task(), ("bad", bad), ("good", good)) as s:
        assert (await s.result("j")).outcome == "scored"
        gateway = s.gateway
    assert good.heard == bad.heard == WAY
    assert gateway.announcements.failed == len(WAY) and gateway.announcements.dropped == 0


async def test_a_listener_that_blocks_delays_no_job_and_does_not_hold_up_the_end(service, task, monkeypatch):
    monkeypatch.setattr("raas_sdk.gateway.announcements.FAREWELL_SECONDS", 0.05)
    hold = threading.Event()
    listener = Listener(hold=hold)
    async with service(task(run=_nothing), ("ears", listener)) as s:
        results = await asyncio.gather(*(s.result() for _ in range(20)))
        assert {result.outcome for result in results} == {"scored"}
        assert len(listener.heard) <= 1
        announcements = s.gateway.announcements
    assert announcements.dropped >= 20 * 5 - 1
    hold.set()


async def _nothing(self):
    return None


async def test_what_does_not_fit_is_dropped_and_counted(as_plugin, settings_of):
    hold, listener = threading.Event(), Listener()
    listener.hold = hold
    plugins = load_plugins(settings_of(plugin=(as_plugin(listener, "ears"),)))
    announcements = Announcements(plugins, queue_size=3)
    async with announcements.speaking():
        announcements.say("raas_job_started", job_id="first", data_source="s", attempt=1)
        while not listener.heard:
            await asyncio.sleep(0.001)
        for n in range(10):
            announcements.say("raas_job_started", job_id=f"j{n}", data_source="s", attempt=1)
        assert announcements.dropped == 7
        hold.set()
    assert [heard[1] for heard in listener.heard] == ["first", "j0", "j1", "j2"]
    assert announcements.dropped == 7


async def test_without_listeners_nothing_is_queued(settings_of):
    announcements = Announcements(load_plugins(settings_of()), queue_size=1)
    threads = threading.active_count()
    async with announcements.speaking():
        for _ in range(5):
            announcements.say("raas_job_started", job_id="j", data_source="s", attempt=1)
        assert threading.active_count() == threads
    assert announcements.dropped == 0 and not announcements.wanted("raas_job_started")


async def test_every_attempt_of_a_job_is_told_by_its_number(service, task):
    heard = []

    class Attempts:
        @hookimpl
        def raas_stage_finished(self, attempt, stage):
            heard.append((attempt, stage.value))

    class Lost(Exception):
        raas_kind, code, retryable = "infra", "lost", True

    async def run(self, job):
        if job.attempt == 1:
            raise Lost

    async with service(task(run=run), ("ears", Attempts())) as s:
        assert (await s.result()).attempt == 2
    assert heard == [(1, "init"), (1, "run"), (2, "init"), (2, "run"), (2, "eval")]
