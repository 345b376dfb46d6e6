"""`raas routes`: which plugin serves which data source."""

from typing import Any

import click
from rich.table import Table
from rich.text import Text

from raas_sdk.cli.console import print_json, screen
from raas_sdk.cli.setting_options import setting_options
from raas_sdk.hooks import load_plugins
from raas_sdk.settings import load_settings

__all__ = ["command"]


@click.command("routes")
@setting_options("plugin", "entry_points", "wrappers")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, **flags: Any) -> None:
    """List data sources: name, plugin, kind (exact, glob, alias)."""
    rows = load_plugins(load_settings(flags)).table.rows()
    if as_json:
        print_json([{"data_source": source, "plugin": plugin, "kind": kind} for source, plugin, kind in rows])
    elif not rows:
        screen().print("no data sources; `raas plugins` shows what was found")
    else:
        table = Table("data source", "plugin", "kind")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        screen().print(table)
