"""Whether arguments fit a tool's schema: objects of required and optional scalars, which is all our tools take."""

from collections.abc import Mapping
from typing import Any

from raas_runtime.observation import Tool

__all__ = ["argument_fault"]

TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def argument_fault(tool: Tool, arguments: Any) -> str | None:
    """What is wrong with the arguments, for the model to read; None where they fit."""
    if not isinstance(arguments, Mapping):
        return f"{tool.name}: arguments must be an object, not {arguments!r}"
    properties = tool.parameters["properties"]
    for name in tool.parameters.get("required", ()):
        if name not in arguments:
            return f"{tool.name}: the argument {name!r} is missing; it takes {', '.join(map(repr, properties))}"
    for name, value in arguments.items():
        if name not in properties:
            return f"{tool.name}: unknown argument {name!r}; it takes {', '.join(map(repr, properties))}"
        if not fits(value, properties[name].get("type")):
            return f"{tool.name}: {name!r} must be a {properties[name]['type']}, not {type(value).__name__}"
    return None


def fits(value: Any, kind: str | None) -> bool:
    """Whether a value is of a JSON type; a boolean is no number."""
    if kind is None:
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])
