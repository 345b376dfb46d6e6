"""`raas check`: a walk through every hook of a plugin; what breaks the contract, and what to do about it."""

import asyncio
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from raas_sdk.cli.console import print_json, screen
from raas_sdk.cli.debug_input import read_body, read_replies
from raas_sdk.cli.log_lines import configure_logging
from raas_sdk.settings import load_settings
from raas_sdk.testing import CheckReport, Finding, check_plugin_async
from raas_sdk.testing.conformance.subject import Subject

__all__ = ["command"]

EXITS = "Exit code: 0 no errors, 1 errors (with --strict also warnings), 2 usage."
STYLES = {"error": "bold red", "warning": "yellow"}


@click.command("check", epilog=EXITS)
@click.argument("plugin")
@click.option("--instance", metavar="FILE", help="A task that it serves: a .json file, - for stdin, or JSON itself.")
@click.option("--script", type=click.Path(path_type=Path), help="A JSON list of replies that solve the instance.")
@click.option("--runtime", default="fake", show_default=True, help="Sandboxes in memory, or a kind of real ones.")
@click.option("--tokenizer", default="test:chatml", show_default=True, help="As of raas serve.")
@click.option("--optional", multiple=True, metavar="FIELD", help="May be left out of an instance; may be repeated.")
@click.option("--seconds", default=30.0, show_default=True, help="How long a stage may take.")
@click.option("--strict", is_flag=True, help="Let warnings count.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(plugin: str, instance: str | None, script: Path | None, **options: Any) -> None:
    """Walk every hook of PLUGIN (module[:attr], a path, or an installed plugin's name) with everything going wrong.

    Without --instance only loading, start-up and shutdown are checked. The plugin's settings are read from
    [plugins.NAME] of raas.toml.
    """
    configure_logging("critical")
    strict, as_json = options.pop("strict"), options.pop("as_json")
    report = asyncio.run(
        check_plugin_async(
            plugin,
            instance=None if instance is None else read_body(instance, {})["instance"],
            script=None if script is None else read_replies(script, flag="--script"),
            settings=load_settings().plugins.get(Subject.named(plugin, None).name),
            patience_seconds=options.pop("seconds"),
            **options,
        )
    )
    if as_json:
        print_json(report.to_wire())
    else:
        _print(report)
    raise SystemExit(1 if report.errors or (strict and report.findings) else 0)


def _print(report: CheckReport) -> None:
    console = screen()
    for finding in report.findings:
        console.print(_line(finding), soft_wrap=True)
    console.print(report.summary, markup=False, soft_wrap=True)


def _line(finding: Finding) -> Text:
    head = Text(f"{finding.severity}: {finding.hook}", style=STYLES[finding.severity])
    return head.append(f": {finding.fault}\n    what to do: {finding.advice}", style="not bold default")
