"""The project of a new plugin as it is written: whole or not at all, well kept, and under any name."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from raas_sdk.errors import FolderRefused
from raas_sdk.new_plugin import PluginName, write_project

ROOT = Path(__file__).parents[2]


@pytest.fixture
def written(tmp_path):
    return write_project(PluginName("word_games"), tmp_path)


def test_a_project_has_its_name_everywhere_and_no_mark_is_left(written):
    assert written.folder.name == "raas-word-games"
    there = {str(path.relative_to(written.folder)) for path in written.folder.rglob("*") if path.is_file()}
    assert there == {str(file) for file in written.files}
    assert {"pyproject.toml", ".gitignore", "raas_word_games/plugin.py", "raas_word_games/prompts/system.j2"} <= there
    texts = [(written.folder / file).read_text(encoding="utf-8") for file in written.files]
    assert not [text for text in texts if "<<" in text or ">>" in text]
    project = tomllib.loads((written.folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"] == {"raas": {"word_games": "raas_word_games.plugin"}}
    assert json.loads((written.folder / "examples/instance.json").read_text())["data_source"] == "word_games"


def test_an_existing_folder_is_never_touched(written):
    before = {path: path.read_bytes() for path in written.folder.rglob("*") if path.is_file()}
    with pytest.raises(FolderRefused, match=r"raas-word-games' exists already; .*--dir"):
        write_project(PluginName("word_games"), written.folder.parent)
    assert before == {path: path.read_bytes() for path in written.folder.rglob("*") if path.is_file()}


def test_a_place_that_is_not_there_or_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for place in ("nowhere", "file"):
        with pytest.raises(FolderRefused, match=r"cannot be made: .*--dir"):
            write_project(PluginName("word_games"), tmp_path / place)


def test_a_project_that_cannot_be_written_whole_leaves_nothing(tmp_path):
    """A limit on the size of files stands in for a full disk."""
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from raas_sdk.new_plugin import PluginName, write_project\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_project(PluginName('word_games'), Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-B", "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert "FolderRefused" in done.stderr and "nothing is left" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "x" * 40])
def test_a_project_is_formatted_and_free_of_lint_whatever_its_name(name, tmp_path):
    folder = write_project(PluginName(name), tmp_path).folder
    for command in (["format", "--check"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_project_is_strictly_typed(written):
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", os.devnull]
    done = subprocess.run(
        [*command, "raas_word_games"], cwd=written.folder, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr
