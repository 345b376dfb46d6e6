"""Checks a call's arguments against the tool's JSON schema, with the light conversions models need.

Understood: type (one or several), properties, required, additionalProperties false, items, enum, const, anyOf
and oneOf. Other keywords are left to the tool itself.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from raas_sdk.agent.json_text import JsonFault, read_json

__all__ = ["SchemaFault", "fitted"]

INTEGER = re.compile(r"[+-]?\d{1,400}")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


class SchemaFault(ValueError):
    """A value does not fit; the message names the argument and what is expected."""


def fitted(value: Any, schema: Mapping[str, Any], *, where: str = "arguments") -> Any:
    """The value as the schema wants it ("5" becomes 5 for an integer); raise SchemaFault."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _any_of(value, schema[key], where=where)
    kinds = schema.get("type")
    if kinds is not None:
        value = _of_type(value, [kinds] if isinstance(kinds, str) else list(kinds), where=where)
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, choice) for choice in allowed):
        choices = ", ".join(repr(choice) for choice in allowed)
        raise SchemaFault(f"{where} is {_shown(value)}, but must be one of {choices}")
    if isinstance(value, Mapping):
        return _object(value, schema, where=where)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [fitted(item, schema["items"], where=f"{where}[{n}]") for n, item in enumerate(value)]
    return value


def _object(value: Mapping[str, Any], schema: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    known: Mapping[str, Any] = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if name not in value]
    if missing:
        names = ", ".join(repr(name) for name in missing)
        raise SchemaFault(f"missing required {'argument' if len(missing) == 1 else 'arguments'} {names}")
    unknown = [name for name in value if name not in known]
    if unknown and schema.get("additionalProperties") is False:
        raise SchemaFault(f"unknown argument {unknown[0]!r}; known: {', '.join(known) or 'none'}")
    return {
        name: fitted(item, known[name], where=_inside(where, name)) if known.get(name) else item
        for name, item in value.items()
    }


def _inside(where: str, name: str) -> str:
    return f"argument {name!r}" if where == "arguments" else f"{where}.{name}"


def _any_of(value: Any, choices: list[Mapping[str, Any]], *, where: str) -> Any:
    # A choice that takes the value as it is beats one that would convert it.
    exact = [choice for choice in choices if _is_a(value, choice.get("type"))]
    faults = []
    for choice in [*exact, *choices]:
        try:
            return fitted(value, choice, where=where)
        except SchemaFault as fault:
            faults.append(str(fault))
    raise SchemaFault(faults[0] if faults else f"{where} fits nothing")


def _of_type(value: Any, kinds: list[str], *, where: str) -> Any:
    if any(_is_a(value, kind) for kind in kinds):
        whole = isinstance(value, float) and "number" not in kinds
        return int(value) if whole else value
    for kind in kinds:
        converted = _converted(value, kind)
        if converted is not None:
            return converted
    raise SchemaFault(f"{where} must be {' or '.join(kinds)}, got {_shown(value)}")


def _is_a(value: Any, kind: str | None) -> bool:
    if kind == "integer":
        return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "null":
        return value is None
    python = {"string": str, "boolean": bool, "array": list, "object": Mapping}.get(kind or "")
    return python is not None and isinstance(value, python)


def _converted(value: Any, kind: str) -> Any:
    """The value as that type, or None where that would be a guess."""
    if kind == "string":
        return json.dumps(value) if isinstance(value, int | float) else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if kind == "integer":
        return int(text) if INTEGER.fullmatch(text) else None
    if kind == "number":
        return (int(text) if INTEGER.fullmatch(text) else float(text)) if NUMBER.fullmatch(text) else None
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    return _parsed(text, kind)


def _parsed(text: str, kind: str) -> Any:
    try:
        value = read_json(text)
    except JsonFault:
        return None
    return value if kind in ("array", "object") and _is_a(value, kind) else None


def _same(value: Any, choice: Any) -> bool:
    return bool(value == choice) and isinstance(value, bool) == isinstance(choice, bool)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
