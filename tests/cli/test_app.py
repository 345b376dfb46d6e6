"""The command itself: help, version, extra commands, errors."""

import json
import subprocess
import sys
from importlib.metadata import version


def test_version_and_help(raas):
    assert version("raas-sdk") in raas("--version").output
    shown = raas("--help").output
    assert all(name in shown for name in ("serve", "submit", "check", "debug", "new", "plugins", "routes"))


def test_every_command_explains_itself(raas):
    for name in ("serve", "submit", "check", "debug", "new", "plugins", "routes"):
        result = raas(name, "--help")
        assert result.exit_code == 0
        assert "--" in result.output


def test_an_unknown_command_or_flag_is_a_usage_error(raas):
    for arguments in (("nope",), ("serve", "--nope"), ("submit",), ("debug",)):
        assert raas(*arguments).exit_code == 2


def test_an_error_of_ours_is_one_line_and_exit_code_2(raas, plugin):
    for arguments in (
        ("serve", "--port", "99999999"),
        ("serve", "--host", "0.0.0.0"),
        ("serve", "--plugin", "/nowhere/x.py", "--strict", "--no-entry-points"),
        ("serve", "--tokenizer", "/nowhere", "--port", "0"),
        ("submit", "gone.jsonl"),
        ("submit", "gone.jsonl", "--sampling", "hot"),
        ("debug", "gone.json", "--backend", "http://127.0.0.1:9"),
        ("debug", "{", "--backend", "http://127.0.0.1:9"),
        (
            "debug",
            '{"data_source": "ecco"}',
            "--plugin",
            plugin,
            "--no-entry-points",
            "--backend",
            "http://127.0.0.1:9",
        ),
    ):
        result = raas(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert result.output.splitlines()[-1].startswith("error: "), (arguments, result.output)
        assert "Traceback" not in result.output


def test_plugins_and_routes_are_listed(raas, plugin, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name")
    flags = ("--plugin", plugin, "--plugin", str(broken), "--no-entry-points")
    rows = json.loads(raas("plugins", *flags, "--json").stdout)
    assert [(row["name"], row["kind"]) for row in rows] == [("broken", "broken"), ("task_plugin", "task")]
    assert "nothing_of_that_name" in rows[0]["error"]
    assert "echo" in rows[1]["data_sources"]
    assert "task_plugin" in raas("plugins", *flags).output
    routes = json.loads(raas("routes", *flags, "--json").stdout)
    assert {"data_source": "echo", "plugin": "task_plugin", "kind": "exact"} in routes
    assert "echo" in raas("routes", *flags).output


def test_nothing_found_is_said(raas):
    assert "no plugins found" in raas("plugins", "--no-entry-points").output
    assert "no data sources" in raas("routes", "--no-entry-points").output


def test_an_installed_distribution_can_add_a_command(tmp_path):
    package = tmp_path / "extra-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[raas.commands]\ngreet = extra:greet\nlost = extra:lost\n")
    (tmp_path / "extra.py").write_text("import click\n\n@click.command()\ndef greet():\n    click.echo('hello')\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from raas_sdk.cli import main; main()"

    def run(*arguments):
        return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)

    assert run("greet").stdout == "hello\n"
    lost = run("lost")
    assert (lost.returncode, "extra" in lost.stderr, "Traceback" in lost.stderr) == (1, True, False)
