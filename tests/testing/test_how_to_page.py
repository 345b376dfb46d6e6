"""The page for testers of plugins: its tests pass, and its commands print what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/test-a-plugin.md").read_text(encoding="utf-8")
# How often a stage waits for the network differs from run to run, and with it the number of cancels.
ROLLOUTS = re.compile(r"\d+ rollouts")


@pytest.fixture
def folder(tmp_path):
    """A folder that holds the plugins of the page."""
    shutil.copy(ROOT / "examples/first_letter/first_letter.py", tmp_path)
    shutil.copy(ROOT / "tests/testing/broken_plugins/backend_fault_is_zero.py", tmp_path)
    return tmp_path


def environment(folder):
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("RAAS_", "PYTEST_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{mine['PATH']}"
    return {**mine, "PATH": path, "PYTHONPATH": str(folder), "XDG_CONFIG_HOME": str(folder)}


def test_the_commands_print_what_the_page_shows(folder):
    commands = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.S | re.M):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            commands.append(step.split("\n", 1))
    assert len(commands) >= 4
    for command, shown in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=60
        )
        assert ROLLOUTS.sub("", done.stdout) == ROLLOUTS.sub("", shown.rstrip("\n") + "\n" * bool(shown.strip())), (
            command
        )
        assert done.returncode == ("error: " in shown), (command, done.stderr)


def test_the_tests_of_the_page_pass(folder):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        (folder / f"test_page_{number}.py").write_text(block, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
