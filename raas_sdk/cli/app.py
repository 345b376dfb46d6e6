"""The command group: commands are imported when they are called, extra ones come from `raas.commands`."""

import importlib
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any

import click

from raas_sdk.cli.console import print_fault
from raas_sdk.errors import RaasError

__all__ = ["main"]

GROUP = "raas.commands"
BUILT_IN = ("check", "debug", "new", "plugins", "routes", "serve", "submit")


class Commands(click.Group):
    """Shows an error of ours as one red line and exits with 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*BUILT_IN, *_extra()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        if cmd_name in BUILT_IN:
            module = importlib.import_module(f"raas_sdk.cli.{cmd_name}")
            command: click.Command = module.command
            return command
        point = _extra().get(cmd_name)
        return None if point is None else _loaded(point)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        try:
            return super().invoke(ctx)
        except RaasError as error:
            print_fault(str(error))
            ctx.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version("raas-sdk"), prog_name="raas")
def main() -> None:
    """Rollouts as a service: trajectories and rewards of multi-turn LLM agents."""


def _extra() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> click.Command:
    try:
        command = point.load()
    except Exception as error:
        origin = "unknown distribution" if point.dist is None else point.dist.name
        raise click.ClickException(f"command {point.name!r} of {origin} cannot be imported: {error!r}") from error
    if not isinstance(command, click.Command):
        raise click.ClickException(f"command {point.name!r} ({point.value}) is no click command")
    return command
