"""What the check lets pass, how it can be called, and that it leaves everything as it was."""

import asyncio
import importlib
import os
import signal
import sys
import time
from pathlib import Path

import pydantic
import pytest

from raas_sdk import LimitReached, Reward, TaskHandler, hookimpl
from raas_sdk.errors import WorkspaceFault
from raas_sdk.testing import (
    CheckReport,
    FakeExec,
    FakeRuntime,
    Finding,
    assert_plugin_ok,
    check_plugin,
    check_plugin_async,
)

FIRST_LETTER = Path(__file__).parents[2] / "examples/first_letter/first_letter.py"
APPLE = {"data_source": "first_letter", "word": "apple"}


class Letters(TaskHandler):
    """A plugin that keeps its contract, with two turns and a sandbox."""

    data_sources = ("letters",)

    async def init(self, job, host):
        if not isinstance(job.instance.payload.get("word"), str) or not job.instance.payload["word"]:
            raise ValueError("the instance has no 'word'")
        return await host.open_workspace(tools=["look"])

    async def run(self, job, host, workspace, policy):
        chat = policy.conversation([{"role": "user", "content": job.instance.payload["word"]}])
        said = []
        try:
            for _ in range(2):
                said.append((await chat.sample()).text)
                seen = await workspace.call("look", {}, timeout=5)
                chat.append({"role": "user", "content": seen.text})
        except LimitReached:
            pass
        return {"letter": said[-1] if said else ""}

    async def eval(self, job, host, trajectory):
        return Reward(float(job.instance.payload["word"].startswith(trajectory.submission["letter"] or "?")))


class Graded(Letters):
    """The same, graded in a process of its own."""

    async def eval(self, job, host, trajectory):
        right = await host.grade(str.startswith, job.instance.payload["word"], trajectory.submission["letter"] or "?")
        return Reward(float(right))


LETTERS = {"instance": {"data_source": "letters", "word": "pear"}, "script": ["x", "p"]}


def words_of(report: CheckReport) -> str:
    return " ".join(found.fault for found in report.findings)


def test_the_example_passes():
    report = check_plugin(str(FIRST_LETTER), instance=APPLE, script=["a"])
    assert report.errors == ()
    assert report.rollouts > 15


def test_a_plugin_with_turns_tools_and_a_grader_passes_without_a_warning():
    report = check_plugin(Graded, **LETTERS)
    assert report.findings == (), str(report)
    made = " | ".join(report.checks)
    for check in (
        "loading and registration",
        "start-up and shutdown",
        "grading stored work at once",
        "another job between the stages of one",
        "LimitReached at turn 2",
        "cancel inside raas_init",
        "cancel inside raas_run",
        "cancel inside raas_eval",
        "raas_init runs out of time in open",
        "raas_run runs out of time in call",
        "raas_run runs out of time in sample",
        "raas_eval runs out of time in grade",
        "the inference server fails at turn 2",
        "the sandbox dies in call of raas_run",
        "every tool call fails",
        "the grading worker fails",
        "malformed instances",
        "grading stored work after a restart",
    ):
        assert check in made


async def test_it_runs_in_an_event_loop_that_is_there_already():
    report = await check_plugin_async(Letters(), **LETTERS)
    assert report.errors == ()
    with pytest.raises(RuntimeError, match="await check_plugin_async"):
        check_plugin(Letters, **LETTERS)


def test_one_line_fails_a_test_with_every_finding():
    report = check_plugin(str(FIRST_LETTER), instance=APPLE)
    with pytest.raises(AssertionError, match="no script was given") as raised:
        report.raise_for_faults(warnings=True)
    assert "what to do: give a script that solves the instance" in str(raised.value)
    report.raise_for_faults()
    with pytest.raises(AssertionError, match="did you mean 'first_letter'"):
        assert_plugin_ok(str(FIRST_LETTER), instance={**APPLE, "data_source": "last_letter"})


def test_without_an_instance_only_loading_and_closing_are_checked():
    report = check_plugin(str(FIRST_LETTER), instance=None)
    assert (report.errors, report.rollouts) == ((), 0)
    assert report.checks == ("loading and registration", "start-up and shutdown", "what is left behind")


def test_a_data_source_is_filled_in_where_the_plugin_has_one():
    assert_plugin_ok(str(FIRST_LETTER), instance={"word": "apple"}, script=["a"])


def test_a_module_can_be_checked_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "letter_module_of_a_test.py").write_text(FIRST_LETTER.read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    assert check_plugin("letter_module_of_a_test", instance=APPLE, script=["a"]).errors == ()
    module = importlib.import_module("letter_module_of_a_test")
    report = check_plugin(module, instance=APPLE, script=["a"])
    assert (report.plugin, report.errors) == ("letter_module_of_a_test", ())
    del sys.modules["letter_module_of_a_test"]


def test_a_plugin_gets_its_settings():
    class Wanted(pydantic.BaseModel):
        letter: str

    class Settled(Letters):
        settings_model = Wanted

        async def eval(self, job, host, trajectory):
            return Reward(float(trajectory.submission["letter"] == host.settings.letter))

    assert check_plugin(Settled, settings={"letter": "p"}, **LETTERS).errors == ()
    (finding,) = check_plugin(Settled, settings={"lettre": "p"}, **LETTERS).errors
    assert "letter: Field required" in finding.fault


def test_a_fake_sandbox_holds_what_it_is_given():
    class Reader(Letters):
        async def run(self, job, host, workspace, policy):
            chat = policy.conversation([{"role": "user", "content": "which?"}])
            told = await workspace.exec(["cat", "word"], timeout=5)
            kept = await workspace.read("word")
            return {"letter": (await chat.sample()).text} if told.stdout == kept == b"pear" else None

    runtime = FakeRuntime(files={"word": b"pear"}, commands=lambda argv, stdin: FakeExec(stdout=b"pear"))
    report = check_plugin(Reader, instance=LETTERS["instance"], script=["p"], runtime=runtime)
    assert report.errors == (), str(report)
    assert {"raas_run runs out of time in exec", "the sandbox dies in read of raas_run"} <= set(report.checks)
    assert runtime.workspaces and all(workspace.closed for workspace in runtime.workspaces)


def test_a_hook_that_blocks_once_is_a_warning():
    class Lazy(Letters):
        waited = False

        def final_result(self, job, result):
            if not self.waited:
                type(self).waited = True
                time.sleep(0.3)
            return None

    (finding,) = check_plugin(Lazy, **LETTERS).findings
    assert (finding.severity, finding.hook) == ("warning", "raas_final_result")
    assert "blocks the event loop once" in finding.fault


def test_a_stage_that_waits_for_its_own_things_runs_out_of_time_too():
    class Waiting(Letters):
        async def eval(self, job, host, trajectory):
            await asyncio.sleep(0.01)
            return await super().eval(job, host, trajectory)

    report = check_plugin(Waiting, **LETTERS)
    assert report.findings == (), str(report)
    assert "raas_eval runs out of time in a wait of its own" in report.checks


async def test_it_can_run_beside_the_main_thread():
    report = await asyncio.to_thread(check_plugin, Letters, **LETTERS)
    assert report.errors == (), str(report)


@pytest.mark.slow
def test_a_real_sandbox_is_opened_where_it_is_asked_for():
    class Real(Letters):
        async def init(self, job, host):
            return await host.open_workspace()

        async def run(self, job, host, workspace, policy):
            chat = policy.conversation([{"role": "user", "content": "which?"}])
            told = await workspace.exec(["/bin/echo", "pear"], timeout=20)
            return {"letter": (await chat.sample()).text, "told": told.stdout.decode()}

        async def eval(self, job, host, trajectory):
            return Reward(float(trajectory.submission == {"letter": "p", "told": "pear\n"}))

    report = check_plugin(Real, instance={"data_source": "letters"}, script=["p"], runtime="local")
    assert report.findings == (), str(report)


def test_a_wrapper_plugin_is_checked_around_a_task():
    class Quiet:
        @hookimpl(wrapper=True)
        def raas_run(self):
            return (yield)

    class Swallowing:
        @hookimpl(wrapper=True)
        def raas_run(self):
            return self.guarded((yield))

        async def guarded(self, work):
            try:
                return await work
            except asyncio.CancelledError:
                return "late"

    instance = {"data_source": "anything", "word": "x"}
    assert check_plugin(Quiet(), instance=instance, script=["x"]).errors == ()
    assert "swallows its cancel" in words_of(check_plugin(Swallowing(), instance=instance, script=["x"]))


def test_a_field_that_may_be_left_out_is_named():
    class Hinted(Letters):
        async def eval(self, job, host, trajectory):
            return Reward(1.0 if job.instance.payload.get("hint") == "easy" else 0.5)

    instance = {**LETTERS["instance"], "hint": "easy"}
    assert "without 'hint' is graded 0.5" in words_of(check_plugin(Hinted, instance=instance, script=["p"]))
    assert check_plugin(Hinted, instance=instance, script=["p"], optional=["hint"]).errors == ()


def test_a_plugin_that_recovers_from_a_dead_sandbox_is_not_accused():
    class Stubborn(Letters):
        async def run(self, job, host, workspace, policy):
            chat = policy.conversation([{"role": "user", "content": "which?"}])
            try:
                await workspace.call("look", {}, timeout=5)
            except WorkspaceFault:
                await host.open_workspace()
            return {"letter": (await chat.sample()).text}

    assert check_plugin(Stubborn, instance=LETTERS["instance"], script=["p"]).errors == ()


@pytest.mark.filterwarnings("ignore")
def test_the_check_puts_right_what_the_plugin_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    environment, handler = dict(os.environ), signal.getsignal(signal.SIGTERM)

    class Meddler(Letters):
        async def startup(self, host):
            os.environ["MEDDLED"] = "yes"
            os.environ.pop("HOME", None)
            os.chdir("/")
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    report = check_plugin(Meddler, **LETTERS)
    assert {found.fault.split(":")[0].split(" to ")[0] for found in report.errors} == {
        "changes signal handlers",
        "changes the working folder",
        "writes",
    }
    assert (dict(os.environ), Path.cwd(), signal.getsignal(signal.SIGTERM)) == (environment, tmp_path, handler)


def test_a_report_is_plain_data_and_text():
    finding = Finding("error", "raas_run", "does harm", "do not", "a check")
    report = CheckReport("mine", (finding,), ("a check",), 3)
    assert report.to_wire() == {
        "plugin": "mine",
        "findings": [
            {
                "severity": "error",
                "hook": "raas_run",
                "fault": "does harm",
                "advice": "do not",
                "check": "a check",
            }
        ],
        "checks": ["a check"],
        "rollouts": 3,
    }
    assert str(report).splitlines() == [
        "plugin 'mine': 1 error, 0 warnings; 1 check, 3 rollouts",
        "error: raas_run: does harm",
        "    what to do: do not",
    ]
