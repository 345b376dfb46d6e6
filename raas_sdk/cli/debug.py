"""`raas debug`: one instance in this process, shown as it happens."""

import asyncio
import os
import sys
from collections.abc import Awaitable
from typing import Any

import click

from raas_sdk.cli.console import print_json, side_screen
from raas_sdk.cli.debug_input import read_body, read_script
from raas_sdk.cli.debug_report import print_report
from raas_sdk.cli.debug_view import DebugView, keep_sandbox
from raas_sdk.cli.log_lines import configure_logging
from raas_sdk.cli.sampling_options import parse_sampling, sampling_option
from raas_sdk.cli.setting_options import setting_options
from raas_sdk.debug import debug_instance
from raas_sdk.gateway import Observer
from raas_sdk.result import Outcome, Result
from raas_sdk.settings import load_settings

__all__ = ["command"]

EXIT_CODES = {
    Outcome.TASK_ERROR: 1,
    Outcome.INFRA_ERROR: 3,
    Outcome.STALE: 3,
    Outcome.TIMEOUT: 4,
    Outcome.CANCELLED: 5,
}
EMBEDDED = "embedded"
STUBBORN_SECONDS = 1.0
EXITS = "Exit code: 0 graded, 1 task_error or no reward, 2 usage, 3 infra_error, 4 timeout, 5 cancelled."


@click.command("debug", epilog=EXITS)
@click.argument("instance")
@setting_options("backend", "tokenizer", "runtime", "plugin", "entry_points", "default_data_source")
@click.option("--embedded", is_flag=True, help="Sample from the small embedded model, as `--backend embedded` does.")
@click.option("--policy", default=None, metavar="scripted:FILE", help="Replies from a JSON list of texts.")
@sampling_option
@click.option("--keep-sandbox", "keep", is_flag=True, help="Before a sandbox closes, wait for Enter.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else to stdout.")
def command(instance: str, sampling: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Run INSTANCE (a .json file, - for stdin, or JSON itself) once and show everything."""
    embedded, policy, keep = (options.pop(name) for name in ("embedded", "policy", "keep"))
    embedded = embedded or EMBEDDED in options["backend"]
    options["backend"] = tuple(address for address in options["backend"] if address != EMBEDDED)
    script = None if policy is None else read_script(policy)
    settings = load_settings({**options, "allow_unsafe_runtime": True})
    if script is None and not embedded and not settings.backend:
        raise click.UsageError("nothing to sample from: give --backend URL, --embedded or --policy scripted:FILE")
    configure_logging("warning")
    work = debug_instance(
        settings,
        read_body(instance, parse_sampling(sampling)),
        observer=Observer() if as_json else DebugView(side_screen()),
        embedded=embedded,
        script=script,
        keep=keep_sandbox if keep else None,
    )
    raise SystemExit(asyncio.run(_shown(work, as_json=as_json)))


async def _shown(work: Awaitable[Result], *, as_json: bool) -> int:
    result = await work
    if as_json:
        print_json(result.to_wire())
    else:
        print_report(result)
    await _leave_behind(_exit_code(result))
    return _exit_code(result)


async def _leave_behind(code: int) -> None:
    """End the process at once if a plugin's task ignores its cancel: Python itself would wait for it for ever."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    stubborn = (await asyncio.wait(left, timeout=STUBBORN_SECONDS))[1] if left else ()
    if stubborn:
        side_screen().print(f"{len(stubborn)} tasks ignore their cancel and end with this process", style="red")
        sys.stdout.flush()
        os._exit(code)


def _exit_code(result: Result) -> int:
    if result.outcome in EXIT_CODES:
        return EXIT_CODES[result.outcome]
    return 0 if result.reward is not None else 1
