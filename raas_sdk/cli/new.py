"""`raas new`: a complete plugin project for a task domain of your own."""

import shlex
from pathlib import Path

import click
from rich.text import Text

from raas_sdk.cli.console import screen
from raas_sdk.cli.log_lines import configure_logging
from raas_sdk.new_plugin import PluginName, PluginProject, write_project
from raas_sdk.settings import load_settings

__all__ = ["command"]


@click.command("new")
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path),
    default=Path("."),
    metavar="DIR",
    help="Where the project's folder is put [default: here].",
)
def command(name: str, parent: Path) -> None:
    """Write a plugin project for the data source NAME, in a new folder raas-NAME.

    It has a handler, a prompt, a grader, settings, instances, a script of replies and tests that pass: a task of unit
    conversion with Python as its tool, to be changed into yours.
    """
    configure_logging("error")
    chosen = PluginName(name)
    chosen.check_free(load_settings())
    _print(write_project(chosen, parent))


def _print(project: PluginProject) -> None:
    folder = _as_path(project.folder)
    examples = shlex.quote(folder) + "/examples"
    console = screen()
    console.print(Text(f"{shlex.quote(folder)} holds the plugin {project.name.text!r}:"), soft_wrap=True)
    for file in project.files:
        console.print(Text(f"  {file}"), soft_wrap=True)
    console.print("next:", style="bold")
    for command in (
        f"pip install -e {shlex.quote(folder + '[test]')}",
        f"raas debug {examples}/instance.json --policy scripted:{examples}/replies.json",
        f"python -m pytest {shlex.quote(folder)}",
    ):
        console.print(Text(f"  {command}"), soft_wrap=True)


def _as_path(folder: Path) -> str:
    """Pip reads a bare word as the name of a distribution, so a relative folder begins with a dot."""
    return str(folder) if folder.is_absolute() or str(folder).startswith("..") else f"./{folder}"
