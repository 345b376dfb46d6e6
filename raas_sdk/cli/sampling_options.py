"""`--sampling`: how the policy is sampled, as JSON or key=value."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from raas_sdk.errors import BadSampling

__all__ = ["parse_sampling", "sampling_option"]

Command = TypeVar("Command", bound=Callable[..., Any])

TEXT = "Sampling parameters and limits, as JSON or key=value (temperature=0.7, max_turns=5); may be repeated."


def sampling_option(command: Command) -> Command:
    """Add --sampling."""
    return click.option("--sampling", multiple=True, metavar="JSON|KEY=VALUE", help=TEXT)(command)


def parse_sampling(given: tuple[str, ...]) -> dict[str, Any]:
    """Merge all --sampling flags, later ones win; raise BadSampling for what can't be read."""
    merged: dict[str, Any] = {}
    for text in given:
        merged.update(_one(text))
    return merged


def _one(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        value = _decoded(text, text)
        if isinstance(value, dict):
            return value
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadSampling(f"--sampling {text!r} is neither JSON nor key=value; write it like temperature=0.7")
    return {key.strip(): _decoded(value.strip(), text)}


def _decoded(text: str, whole: str) -> Any:
    try:
        return msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadSampling(f"--sampling {whole!r}: {text!r} is no JSON value ({error})") from error
