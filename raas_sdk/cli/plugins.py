"""`raas plugins`: which plugins were found, and what became of each."""

from dataclasses import asdict
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from raas_sdk.cli.console import print_json, screen
from raas_sdk.cli.setting_options import setting_options
from raas_sdk.hooks import PluginReport, load_plugins
from raas_sdk.settings import load_settings

__all__ = ["command"]

KIND_STYLES = {"broken": "bold red", "wrapper": "cyan", "task": "green"}


@click.command("plugins")
@setting_options("plugin", "entry_points", "wrappers")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, **flags: Any) -> None:
    """List plugins: name, version, source, kind, data sources, error."""
    reports = load_plugins(load_settings(flags)).reports
    if as_json:
        print_json([asdict(report) for report in reports])
    elif not reports:
        screen().print("no plugins found; install one (pip install raas-math) or name one with --plugin")
    else:
        screen().print(_table(reports))


def _table(reports: list[PluginReport]) -> Table:
    table = Table("name", "version", "source", "kind", "data sources", "error")
    for report in reports:
        table.add_row(
            Text(report.name),
            Text(report.version or "-"),
            Text(report.source),
            Text(report.kind, style=KIND_STYLES.get(report.kind, "")),
            Text(", ".join(report.data_sources) or "-"),
            Text(report.error or "", style="red"),
        )
    return table
