"""What `raas debug` and `raas check` are given: an instance and, for a scripted policy, its replies."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from raas_sdk.errors import BadInstance, SettingsInvalid

__all__ = ["read_body", "read_replies", "read_script"]

PREFIX = "scripted:"


def read_body(text: str, sampling: Mapping[str, Any]) -> dict[str, Any]:
    """A request body from a file, stdin or JSON: the instance itself, or an object that holds one as `instance`."""
    value = _decoded(text)
    if not isinstance(value, dict):
        raise BadInstance(f"the instance must be a JSON object, not {type(value).__name__}")
    inner = value.get("instance")
    if isinstance(inner, dict) and "data_source" not in value:
        params = value.get("sampling_params") or {}
        return {"instance": inner, "sampling_params": {**params, **sampling}}
    return {"instance": value, "sampling_params": dict(sampling)}


def read_script(policy: str) -> list[str]:
    """The replies of `scripted:FILE`; raise SettingsInvalid that says what the file must hold."""
    if not policy.startswith(PREFIX):
        raise SettingsInvalid(f"--policy {policy!r} is unknown; write --policy scripted:FILE")
    return read_replies(Path(policy.removeprefix(PREFIX)), flag="--policy")


def read_replies(path: Path, *, flag: str) -> list[str]:
    """The texts of a JSON list; raise SettingsInvalid that names the flag and says what the file must hold."""
    try:
        value = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise SettingsInvalid(f"{flag}: {str(path)!r} cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsInvalid(f"{flag}: {str(path)!r} is not JSON: {error}") from error
    if not isinstance(value, list) or not value or not all(isinstance(reply, str) for reply in value):
        raise SettingsInvalid(f'{flag}: {str(path)!r} must hold a JSON list of reply texts, like ["2 + 2 is 4"]')
    return value


def _decoded(text: str) -> Any:
    if text.lstrip().startswith("{"):
        return _json(text.encode("utf-8", "surrogateescape"), "the instance")
    if text == "-":
        return _json(sys.stdin.buffer.read(), "stdin")
    try:
        return _json(Path(text).read_bytes(), repr(text))
    except OSError as error:
        hint = "give a .json file, - for stdin, or the JSON itself"
        raise BadInstance(f"{text!r:.200} cannot be read: {error.strerror}; {hint}") from error


def _json(data: bytes, where: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInstance(f"{where} is not JSON: {error}") from error
