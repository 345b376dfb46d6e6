"""`raas check`: findings as text or JSON, the exit code, and what it is given."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST_LETTER = str(ROOT / "examples/first_letter/first_letter.py")
BROKEN = str(ROOT / "tests/testing/broken_plugins/typo_in_hook_name.py")
APPLE = '{"data_source": "first_letter", "word": "apple"}'


@pytest.fixture
def replies(tmp_path):
    path = tmp_path / "script.json"
    path.write_text('["a"]')
    return str(path)


def test_a_good_plugin_exits_with_0_and_warnings_are_shown(raas, replies):
    result = raas("check", FIRST_LETTER, "--instance", APPLE, "--script", replies)
    assert result.exit_code == 0, result.output
    assert "warning: raas_init: an instance with 'word' null" in result.output
    assert "plugin 'first_letter': 0 errors, 1 warning" in result.output


def test_warnings_count_where_it_is_strict(raas, replies):
    result = raas("check", FIRST_LETTER, "--instance", APPLE, "--script", replies, "--strict", "--json")
    assert result.exit_code == 1
    assert [row["severity"] for row in json.loads(result.stdout)["findings"]] == ["warning"]


def test_a_broken_plugin_exits_with_1_and_says_what_to_do(raas):
    result = raas("check", BROKEN)
    assert result.exit_code == 1
    assert "error: raas_eval: " in result.output and "did you mean 'raas_eval'?" in result.output
    assert "what to do: " in result.output
    row = json.loads(raas("check", BROKEN, "--json").stdout)
    assert (row["plugin"], row["findings"][0]["hook"], row["rollouts"]) == ("typo_in_hook_name", "raas_eval", 0)


def test_an_installed_plugin_is_checked_by_its_name_with_its_settings(raas, tmp_path):
    assert raas("check", "math").exit_code == 0
    (tmp_path / "raas.toml").write_text("[plugins.math]\ngrade_second = 3\n")
    result = raas("check", "math")
    assert (result.exit_code, "grade_second" in result.output) == (1, True)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--instance", "gone.json"), "'gone.json' cannot be read"),
        (("--instance", "[]"), "cannot be read"),
        (("--instance", APPLE, "--script", "gone.json"), "--script: 'gone.json' cannot be read"),
        (("--runtime", "none-such"), "none-such"),
        (("--tokenizer", "/nowhere", "--instance", APPLE), "/nowhere"),
    ],
)
def test_what_it_cannot_use_is_a_usage_error(raas, flags, named):
    result = raas("check", FIRST_LETTER, *flags)
    assert (result.exit_code, named in result.output) == (2, True), result.output
