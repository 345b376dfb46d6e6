"""Flags that are settings: one for each field, with the field's name."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from raas_sdk.settings import Settings

__all__ = ["setting_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

HELP = {
    "host": "Address to bind. Beyond loopback a --token is required.",
    "port": "Port to bind; 0 takes any free one.",
    "token": "Bearer token that callers must send.",
    "init_workers": "How many jobs may be in INIT.",
    "run_workers": "How many jobs may be in RUN.",
    "eval_workers": "How many jobs may be in EVAL.",
    "handover": "How many ready sandboxes may wait for RUN.",
    "grade_workers": "Processes that run graders.",
    "runtime": "Sandbox runtime: auto, bubblewrap, local ...",
    "allow_unsafe_runtime": "Let a runtime that isolates nothing be used.",
    "tokenizer": "Directory with tokenizer.json and chat template, or a .gguf file.",
    "backend": "Address of an inference server; may be repeated.",
    "plugin": "module[:attr] or path of a plugin; may be repeated.",
    "wrappers": "Order of wrapper plugins, outermost first; may be repeated.",
    "strict": "Refuse to start with a broken plugin.",
    "default_data_source": "For instances without a data_source.",
    "max_body_bytes": "Largest request body.",
    "max_queued_jobs": "How many jobs may wait before 429.",
    "keep_results": "How many finished jobs are remembered.",
    "lease_wait_seconds": "How long a job waits for a usable backend.",
    "stop_seconds": "How long stopping waits for jobs to end.",
    "log_level": "debug, info, warning or error.",
}


def setting_options(*names: str) -> Callable[[Command], Command]:
    """Add the flags of these settings; what is not given stays None, so that files and environment count."""

    def add(command: Command) -> Command:
        for name in reversed(names):
            command = _option(name)(command)
        return command

    return add


def _option(name: str) -> Callable[[Command], Command]:
    if name == "entry_points":
        text = "Load only the plugins named by --plugin."
        return click.option("--no-entry-points", name, flag_value=False, default=None, type=bool, help=text)
    field = Settings.model_fields[name]
    flag, text = "--" + name.replace("_", "-"), f"{HELP[name]}{_shown(field.default)}"
    if field.annotation is bool:
        return click.option(flag, name, flag_value=True, default=None, type=bool, help=text)
    is_list = str(field.annotation).startswith("tuple")
    return click.option(flag, name, multiple=is_list, default=None, metavar=name.rpartition("_")[2].upper(), help=text)


def _shown(default: Any) -> str:
    return f" [default: {default}]" if isinstance(default, int | float | str) and default is not False else ""
