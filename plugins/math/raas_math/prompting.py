"""The opening messages of a math task, from templates."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from raas_math.settings import MathSettings
from raas_sdk import Message, Tool
from raas_sdk.agent import describe_tools

__all__ = ["opening_messages"]

PROMPTS = files("raas_math") / "prompts"


def opening_messages(
    question: str, tools: Sequence[Tool], *, tool_format: str, settings: MathSettings
) -> list[Message]:
    """System message, worked examples where they help, and the question."""
    system = _render("system.j2", tools=describe_tools(tools, format=tool_format) if tool_format == "plain" else "")
    shown = settings.worked_examples == "always" or (settings.worked_examples == "auto" and tool_format == "plain")
    examples = _examples() if shown else []
    return [{"role": "system", "content": system}, *examples, {"role": "user", "content": _ask(question)}]


def _ask(question: str) -> str:
    return _render("question.j2", question=question)


def _examples() -> list[Message]:
    rows: list[dict[str, Any]] = json.loads((PROMPTS / "worked_examples.json").read_text(encoding="utf-8"))
    return [{**row, "content": _ask(row["content"])} if row["role"] == "user" else row for row in rows]


def _render(name: str, **values: object) -> str:
    source = (PROMPTS / name).read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source).render(**values).strip()
