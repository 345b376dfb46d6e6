"""The results file: one line each, mended after a crash, never mixed."""

import json

import pytest

from raas_sdk.client import ResultsFile, SamplePlan
from raas_sdk.errors import SettingsInvalid

PLAN = SamplePlan("f", samples=3)


@pytest.fixture
def samples():
    return list(PLAN.expand([{"data_source": "echo"}]))


def opened(path, plan=PLAN):
    return ResultsFile.open(path, plan_digest=plan.digest)


def test_a_later_run_finds_what_is_there(tmp_path, samples, result):
    path = tmp_path / "out.jsonl"
    with opened(path) as results:
        results.add(samples[0], result(extra="żółć"))
    with opened(path) as results:
        assert set(results.rows) == {samples[0].key}
        results.add(samples[1], result())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["instance"], line["result"]["reward"]) for line in lines] == [({"data_source": "echo"}, 1.0)] * 2


@pytest.mark.parametrize("kept", [1, 40, 200])
def test_a_line_that_a_crash_cut_off_is_taken_out(tmp_path, samples, result, kept):
    path = tmp_path / "out.jsonl"
    with opened(path) as results:
        results.add(samples[0], result())
        whole = path.stat().st_size
        results.add(samples[1], result())
    path.write_bytes(path.read_bytes()[: whole + kept])
    with opened(path) as results:
        assert set(results.rows) == {samples[0].key}
        results.add(samples[1], result())
    assert [json.loads(line)["sample_index"] for line in path.read_text().splitlines()] == [0, 1]


def test_results_of_other_parameters_are_not_mixed_in(tmp_path, samples, result):
    path = tmp_path / "out.jsonl"
    with opened(path) as results:
        results.add(samples[0], result())
    other = SamplePlan("f", sampling_params={"temperature": 0.1})
    with pytest.raises(SettingsInvalid, match="other parameters"), opened(path, other):
        pass
    assert len(path.read_text().splitlines()) == 1


@pytest.mark.parametrize("content", ["hello\n", "[]\n", '{"a": 1}\n', "\xff\n"])
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.jsonl"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(SettingsInvalid, match="line 1"), opened(path):
        pass
    assert path.read_text(encoding="latin-1") == content


def test_two_runs_cannot_write_one_file(tmp_path):
    path = tmp_path / "out.jsonl"
    with opened(path), pytest.raises(SettingsInvalid, match="another run"), opened(path):
        pass


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(SettingsInvalid, match="--out"), opened(tmp_path / "missing" / "out.jsonl"):
        pass
