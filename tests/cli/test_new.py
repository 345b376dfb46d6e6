"""`raas new`: writes the project and says what to do next, or says in one line why not."""

import re
import shlex

import pytest


def test_it_writes_a_project_and_prints_three_commands(raas, tmp_path):
    result = raas("new", "knots")
    assert result.exit_code == 0, result.output
    commands = result.output.partition("next:\n")[2].splitlines()
    assert [shlex.split(line)[0] for line in commands] == ["pip", "raas", "python"]
    named = re.findall(r"\./[\w./-]+", " ".join(commands))
    assert len(named) == 4
    assert [place for place in named if not (tmp_path / place).exists()] == []


def test_dir_says_where_and_any_path_is_quoted(raas, tmp_path):
    (tmp_path / "my tasks").mkdir()
    for given, folder in (("my tasks", "./my tasks/raas-knots"), (tmp_path, str(tmp_path / "raas-knots"))):
        result = raas("new", "knots", "--dir", str(given))
        install, debug, test = (shlex.split(line) for line in result.output.splitlines()[-3:])
        assert (install[-1], test[-1]) == (f"{folder}[test]", folder)
        assert (debug[2], debug[4]) == (f"{folder}/examples/instance.json", f"scripted:{folder}/examples/replies.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Knots",), "'Knots' is no name for a plugin"),
        (("sdk",), "'raas_sdk' exists already"),
        (("knots", "--dir", "nowhere"), "'nowhere/raas-knots' cannot be made"),
        (("gsm8k",), "'gsm8k' is a data source of the installed plugin 'math'"),
    ],
)
def test_a_refusal_is_one_line_and_writes_nothing(raas, tmp_path, arguments, said):
    pytest.importorskip("raas_math", reason="raas-math is not installed")
    result = raas("new", *arguments)
    assert (result.exit_code, result.output.startswith("error: ")) == (2, True), result.output
    assert said in result.output and result.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_broken_plugin_is_told_and_stops_nothing(raas, monkeypatch):
    monkeypatch.setenv("RAAS_PLUGIN", "nowhere.gone")
    result = raas("new", "knots")
    assert (result.exit_code, "next:" in result.stdout) == (0, True), result.output
    assert "plugin='gone'" in result.stderr and "No module named" in result.stderr
