"""`raas debug`: one instance, everything shown, the outcome as exit code."""

import json
import os
import pty
import subprocess
import sys

import pytest

from raas_sdk.result import Result

TWO = '["yes", "no"]'


@pytest.fixture
def debug(raas, plugin, script):
    def run(instance, *flags, replies=TWO, **more):
        policy = ("--policy", script(replies)) if replies else ()
        return raas("debug", instance, "--plugin", plugin, "--no-entry-points", *policy, *flags, **more)

    return run


def test_a_scripted_rollout_goes_the_whole_token_path(debug):
    result = debug('{"data_source": "echo"}')
    assert result.exit_code == 0, result.output
    for shown in ("INIT", "RUN", "EVAL", "turn 1", "yes", "turn 2", "scored", "say [bold]yes[/bold]", "mask 1 on 7"):
        assert shown in result.output


def test_json_is_the_canonical_record_and_nothing_else(debug):
    result = debug('{"data_source": "echo"}', "--json")
    record = Result.from_wire(json.loads(result.stdout))
    assert (record.outcome, record.reward, record.trainable) == ("scored", 1.0, True)
    assert record.usage.sampled_tokens == len("yes") + len("no") + 2


def test_a_plugins_fault_is_shown_with_its_place(debug):
    output = debug('{"data_source": "broken"}').output
    assert "task_plugin.py" in output and 'raise RuntimeError("the grader is out")' in output


def test_the_exit_code_tells_the_outcome(debug):
    assert debug('{"data_source": "broken"}').exit_code == 1
    assert debug('{"data_source": "echo"}', replies='["yes"]').exit_code == 1
    assert (
        debug('{"data_source": "endless"}', "--sampling", '{"run_seconds": 0.1, "collect_seconds": 0.1}').exit_code == 4
    )
    unreachable = ("--backend", "http://127.0.0.1:9", "--tokenizer", "test:chatml", "--sampling", "infra_retries=0")
    lost = debug('{"data_source": "lost"}', *unreachable, replies=None)
    assert (lost.exit_code, "infra_error" in lost.output) == (3, True)
    unknown = debug('{"data_source": "boxed"}', "--runtime", "none-such", *unreachable, replies=None)
    assert (unknown.exit_code, "none-such" in unknown.output) == (2, True)


def test_an_instance_comes_from_a_file_from_stdin_or_with_its_request(debug, tmp_path):
    path = tmp_path / "instance.json"
    path.write_text('{"instance": {"data_source": "echo"}, "sampling_params": {"temperature": 0.25}}')
    record = json.loads(debug(str(path), "--json", "--sampling", "top_p=0.5").stdout)
    assert (record["sampling"]["temperature"], record["sampling"]["top_p"]) == (0.25, 0.5)
    assert debug("-", input='{"data_source": "echo"}').exit_code == 0


@pytest.mark.parametrize("replies", ["", "{}", "[]", "[1]", "nonsense"])
def test_a_script_that_cannot_be_used_is_explained(raas, script, replies):
    result = raas("debug", '{"data_source": "echo"}', "--policy", script(replies))
    assert (result.exit_code, result.output.startswith("error: --policy")) == (2, True)


def test_nothing_to_sample_from_is_a_usage_error(debug):
    result = debug('{"data_source": "echo"}', replies=None)
    assert (result.exit_code, "--backend" in result.output) == (2, True)


def test_bad_sampling_is_a_usage_error(debug):
    for text in ("hot", "=1", "temperature=warm", "{", "temperatur=1", '{"temperature": -1}'):
        result = debug('{"data_source": "echo"}', "--sampling", text)
        assert (result.exit_code, result.output.splitlines()[-1].startswith("error: ")) == (2, True)


def test_a_sandbox_that_isolates_nothing_is_named_in_the_report(debug):
    pytest.importorskip("raas_runtime", reason="raas-runtime is not installed")
    result = debug('{"data_source": "boxed"}', "--runtime", "local")
    assert (result.exit_code, "NOTHING IS ISOLATED" in result.output) == (0, True)


def test_a_kept_sandbox_waits_for_enter(plugin, script, tmp_path):
    pytest.importorskip("raas_runtime", reason="raas-runtime is not installed")
    ours, theirs = pty.openpty()
    flags = ("--runtime", "local", "--plugin", plugin, "--no-entry-points", "--policy", script(TWO), "--keep-sandbox")
    command = (
        sys.executable,
        "-c",
        "from raas_sdk.cli import main; main()",
        "debug",
        '{"data_source": "boxed"}',
        *flags,
    )
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        kept = next(line for line in process.stderr if "is kept" in line)
        pid = int(kept.partition("pid ")[2].partition(")")[0])
        os.kill(pid, 0)
        os.write(ours, b"\n")
        process.communicate()
    os.close(ours)
    assert process.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_embedded_model_can_be_named_as_the_backend(debug):
    result = debug('{"data_source": "echo"}', "--backend", "embedded", "--tokenizer", "test:chatml", replies=None)
    assert (result.exit_code, "embedded model brings its own tokenizer" in result.output) == (2, True)
