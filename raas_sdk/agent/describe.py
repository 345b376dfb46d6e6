"""Tells a model about its tools in the prompt, for models whose chat template cannot."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from raas_sdk.agent.plain import ALIASES, plain_argument
from raas_sdk.agent.tool_calls import FORMATS
from raas_sdk.workspace import Tool

__all__ = ["describe_tools"]

PROMPTS = Path(__file__).with_name("prompts")


def describe_tools(tools: Sequence[Tool], *, format: str) -> str:
    """Text for the system or first user message: what the tools are and how to call them in this format."""
    if format not in FORMATS:
        raise ValueError(f"unknown tool-call format {format!r}; known: {', '.join(sorted(FORMATS))}")
    source = (PROMPTS / f"{format}_tools.j2").read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source).render(tools=[_described(tool) for tool in tools]).strip()


def _described(tool: Tool) -> dict[str, Any]:
    schema = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    argument = plain_argument(tool)
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    return {
        "name": tool.name,
        "description": tool.description,
        "word": next((alias for alias in ("python", "bash") if tool.name in ALIASES[alias]), tool.name),
        "argument": argument,
        "others": [name for name in properties if name != argument],
        "schema": json.dumps({"type": "function", "function": schema}, ensure_ascii=False),
    }
