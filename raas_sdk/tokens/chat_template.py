"""Chat templates as models ship them, rendered to text in a sandboxed Jinja2 environment."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from raas_sdk.errors import PluginFault, SettingsInvalid
from raas_sdk.policy import Message
from raas_sdk.trajectory import tool_schema
from raas_sdk.workspace import Tool

__all__ = ["ChatTemplate", "TemplateRefused", "template_message", "text_of"]


class TemplateRefused(PluginFault):
    """The template does not accept this chat: its roles, their order or a kind of content."""

    code = "template_refused"


class GenerationBlock(Extension):
    """Accepts `{% generation %}` blocks, which mark replies for training, and renders what is inside."""

    tags = {"generation"}  # noqa: RUF012  (Jinja2's own declaration)

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    """A compiled chat template. `variables` (bos_token, enable_thinking, …) are there on every rendering."""

    def __init__(self, source: str, variables: Mapping[str, Any]) -> None:
        self.source = source
        self.variables = dict(variables)
        try:
            self._template = _environment().from_string(source)
        except TemplateError as error:
            fault = f"the chat template cannot be compiled: {error}; check the model's chat_template"
            raise SettingsInvalid(fault) from error

    def with_variables(self, **variables: Any) -> "ChatTemplate":
        """The same template with more variables; None removes one."""
        merged = {**self.variables, **variables}
        return ChatTemplate(self.source, {key: value for key, value in merged.items() if value is not None})

    def render(self, messages: Sequence[Message], tools: Sequence[Tool], *, reply: bool) -> str:
        """The chat as text, up to where a reply starts if `reply`; raise TemplateRefused."""
        try:
            return self._template.render(
                messages=[template_message(message) for message in messages],
                tools=[tool_schema(tool) for tool in tools] or None,
                add_generation_prompt=reply,
                **self.variables,
            )
        except (TemplateError, TypeError, ValueError, KeyError, IndexError) as error:
            roles = [message.get("role") for message in messages]
            raise TemplateRefused(f"the chat template refused roles {roles!r}: {error}") from error


def template_message(message: Message) -> dict[str, Any]:
    """A message as chat templates read it: content as text, calls in the OpenAI shape."""
    shown = {**message, "content": text_of(message)}
    if message.get("tool_calls"):
        shown["tool_calls"] = [_template_call(call) for call in message["tool_calls"]]
    return shown


def text_of(message: Message) -> str:
    """The content as text: None is empty, a list of text parts is joined; raise TemplateRefused for others."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part.get("text") if isinstance(part, Mapping) else None for part in content]
    if not all(isinstance(part, str) for part in parts):
        raise TemplateRefused(f"content of a {message.get('role')!r} message is not text: {content!r:.200}")
    return "".join(str(part) for part in parts)


def _template_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or call
    flat = {"name": function["name"], "arguments": function.get("arguments") or {}}
    return {"id": call.get("id"), "type": "function", "function": flat}


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[GenerationBlock, "jinja2.ext.loopcontrols"],
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _tojson(value: Any, *, ensure_ascii: bool = False, **options: Any) -> str:
    # Jinja2's own filter escapes <, > and & for HTML, which the models have never seen.
    return json.dumps(value, ensure_ascii=ensure_ascii, **options)


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.now().strftime(pattern)
