"""`raas serve`: the service, until SIGTERM or Ctrl-C."""

from pathlib import Path
from typing import Any

import click

from raas_sdk.cli.console import screen, side_screen
from raas_sdk.cli.log_lines import configure_logging
from raas_sdk.cli.setting_options import setting_options
from raas_sdk.settings import load_settings

__all__ = ["command"]

FIELDS = (
    "host",
    "port",
    "token",
    "backend",
    "tokenizer",
    "runtime",
    "allow_unsafe_runtime",
    "plugin",
    "entry_points",
    "wrappers",
    "strict",
    "default_data_source",
    "init_workers",
    "run_workers",
    "eval_workers",
    "handover",
    "grade_workers",
    "max_body_bytes",
    "max_queued_jobs",
    "keep_results",
    "lease_wait_seconds",
    "grace_seconds",
    "close_seconds",
    "stop_seconds",
    "log_level",
)


@click.command("serve")
@setting_options(*FIELDS)
@click.option("--embedded", is_flag=True, help="Start the small embedded model and sample from it.")
@click.option("--embedded-log", type=click.Path(path_type=Path), help="Write the embedded model's calls, ids and all.")
def command(embedded: bool, embedded_log: Path | None, **flags: Any) -> None:
    """Take rollouts over HTTP."""
    settings = load_settings(flags)
    configure_logging(settings.log_level)
    if settings.allow_unsafe_runtime:
        text = "--allow-unsafe-runtime: what the model writes may run on this machine without isolation"
        side_screen().print(text, style="bold red")
    from raas_sdk.server import serve

    serve(settings, embedded=embedded, embedded_log=embedded_log, announce=_announce)


def _announce(url: str) -> None:
    screen().print(f"raas serves at {url} (API: {url}/docs); Ctrl-C ends it", soft_wrap=True)
