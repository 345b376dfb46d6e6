"""Flags that are settings: one for each field, with the field's name."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from raas_sdk.settings import Settings

__all__ = ["setting_options"]

Command = TypeVar("Command", bound=Callable[..., Any])


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
    flag, text = "--" + name.replace("_", "-"), _text(str(field.description), field.default)
    if field.annotation is bool:
        return click.option(flag, name, flag_value=True, default=None, type=bool, help=text)
    is_list = str(field.annotation).startswith("tuple")
    text = text.removesuffix(".") + "; may be repeated." if is_list else text
    return click.option(flag, name, multiple=is_list, default=None, metavar=name.rpartition("_")[2].upper(), help=text)


def _text(description: str, default: Any) -> str:
    shown = f" [default: {default}]" if isinstance(default, int | float | str) and default is not False else ""
    return f"{description[:1].upper()}{description[1:]}.{shown}"
