"""Plugins that break their contract, each in one way: the check names the hook and the fault."""

from pathlib import Path

import pytest

from raas_sdk.testing import check_plugin

FOLDER = Path(__file__).with_name("broken_plugins")
INSTANCE = {"data_source": "broken", "word": "apple", "answer": "a"}

# What each is caught for: severity and hook, then words of the fault.
CAUGHT = {
    "async_exception_hook": ("error raas_run_exception", "write 'def' instead of 'async def'"),
    "backend_fault_is_zero": ("error raas_run", "turns a backend fault at turn 1 into a reward of 0"),
    "blocks_the_loop": ("error raas_run", "blocks the event loop", "blocks_the_loop.py:16 in raas_run"),
    "cannot_be_imported": ("error registration", "No module named 'no_such_module_anywhere'"),
    "changes_the_folder": ("error process", "changes the working folder to '/'"),
    "changes_the_instance": ("warning raas_run", "changes job.instance.payload"),
    "changes_the_reward": ("error raas_final_result", "may change reward_parts and extra only"),
    "claims_no_sources": ("error raas_data_sources", "declares no data sources"),
    "computes_on_the_loop": ("error raas_eval", "blocks the event loop", "in laborious"),
    "configures_at_import": ("warning import", "writes to the environment when it is imported", "BROKEN_PLUGIN_MODE"),
    "dead_sandbox_is_zero": ("error raas_run", "turns a sandbox that died in exec into a reward of 0"),
    "eval_by_chance": ("error raas_eval", "is not deterministic"),
    "eval_needs_a_global": ("error raas_eval", "mixes up jobs: reward 1 alone, reward 0 beside another job"),
    "eval_needs_its_run": ("error raas_eval", "cannot grade stored work", "without INIT and RUN"),
    "exception_hook_raises": ("error raas_eval_exception", "no attribute 'reason'"),
    "exception_hook_returns_garbage": ("error raas_run_exception", "returned float 0.0, not a Reward"),
    "exception_hook_rewards_all": ("error raas_run_exception", "reward of 0 for WorkspaceFault"),
    "exits_at_import": ("error registration", "SystemExit: no licence"),
    "grader_fault_is_zero": ("error raas_eval", "turns a grader fault into a reward of 0"),
    "grades_a_lambda": ("error raas_eval", "cannot be sent to a grading worker"),
    "hides_backend_fault": ("warning raas_run", "hides a backend fault at turn 1", "no reply"),
    "ignores_cancel": ("error raas_eval", "ignores its cancel and does not stop"),
    "ignores_limits": ("error raas_run", "goes on for ever after LimitReached at turn 1"),
    "init_returns_none": ("error raas_init", "returned NoneType None, not a Workspace"),
    "leaks_a_process": ("error process", "processes behind, such as 'sleep 60'"),
    "leaks_a_task": ("error raas_run", "leaves a task behind: Event.wait"),
    "leaks_files": ("error process", "open file(s) or socket(s) behind", "leaks_files.py"),
    "leaves_temporary_files": ("warning process", "leaves temporary files behind"),
    "limit_is_an_error": ("error raas_run", "LimitReached at turn 1 ends as task_error", "did not finish"),
    "listener_raises": ("error raas_turn_finished", "raises when it is told what happened"),
    "malformed_is_infra": ("error raas_init", "without 'word' ends as infra_error"),
    "missing_eval": ("error raas_eval", "has no raas_eval"),
    "missing_field_is_zero": ("error raas_eval", "without 'answer' is graded 0, not refused"),
    "never_yields": ("error raas_run", "never returns to the event loop", "never_yields.py"),
    "raises_cancelled": ("error raas_eval", "raised CancelledError by itself"),
    "raises_system_exit": ("error raas_run", "raised SystemExit(done)"),
    "reward_is_a_number": ("error raas_eval", "returned float 1.0, not a Reward"),
    "reward_is_nan": ("error raas_eval", "value must be a finite number, got nan"),
    "reward_out_of_range": ("error raas_eval", "2.0 lies outside its range [0, 1]"),
    "sandbox_at_startup": ("error raas_startup", "open it in raas_init, not at start-up"),
    "settings_not_a_model": ("error raas_settings", "must return a pydantic model class"),
    "shares_state": ("error raas_run", "mixes up jobs: another job changed this one's submission"),
    "shutdown_needs_startup": ("error raas_shutdown", "KeyError: 'cache'"),
    "startup_hangs": ("error raas_startup", "does not end within"),
    "startup_raises": ("error raas_startup", "OSError: the data is not there"),
    "submission_not_json": ("error raas_run", "not JSON-able"),
    "swallows_cancel": ("error raas_run", "swallows its cancel"),
    "sync_run": ("error raas_run", "not an awaitable: write it as 'async def'"),
    "tool_failure_is_an_error": ("error raas_run", "a failing tool call ends the job as task_error"),
    "typo_in_hook_name": ("error raas_eval", "'raas_evaluate', which is no hook; did you mean 'raas_eval'?"),
    "unmarked_hook": ("error raas_run_exception", "without its mark"),
    "writes_the_environment": ("error process", "writes to the environment: ['BROKEN_PLUGIN_THREADS']"),
    "wrong_argument": ("error raas_run", "'sandbox'", "declared in the hookimpl but can not be found"),
}

# These end only when the check loses its patience.
ENDLESS = {"ignores_limits", "never_yields", "startup_hangs"}


# They leave behind what they should not: that is what is tested.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CAUGHT)
def test_a_broken_plugin_is_caught_and_its_fault_is_named(name, monkeypatch):
    monkeypatch.setenv("BROKEN_PLUGIN_MODE", "slow")  # so that it is put right afterwards
    monkeypatch.delenv("BROKEN_PLUGIN_MODE")
    place = FOLDER / f"{name}.py"
    attribute = ":plugin" if "\nplugin = " in place.read_text() else ""
    report = check_plugin(
        f"{place}{attribute}", instance=INSTANCE, script=["a"], patience_seconds=0.7 if name in ENDLESS else 5.0
    )
    accused, *words = CAUGHT[name]
    faults = [found.fault for found in report.findings if f"{found.severity} {found.hook}" == accused]
    assert any(all(word in fault for word in words) for fault in faults), str(report)
    assert all(found.advice for found in report.findings)


def test_every_broken_plugin_is_listed():
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(CAUGHT)
