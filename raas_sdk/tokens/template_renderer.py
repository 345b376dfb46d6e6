"""The renderer for any model that ships a chat template: plain `tokenizers` and Jinja2."""

from collections.abc import Iterable, Sequence

from raas_sdk.policy import Message
from raas_sdk.tokens.bridge import bridge_text, find_turn_end
from raas_sdk.tokens.chat_template import ChatTemplate, TemplateRefused, text_of
from raas_sdk.tokens.guard import ContentGuard
from raas_sdk.tokens.tokenizer import TextTokenizer
from raas_sdk.workspace import Tool

__all__ = ["TemplateRenderer"]

PROBE = Tool("probe_tool", "Probes.", {"type": "object", "properties": {}})


class TemplateRenderer:
    """Renders with the model's own chat template. Raises TemplateRefused for chats it does not accept.

    `stops` are ids to stop at besides the template's own end-of-turn token. Where the template shows no tools
    in Hermes style (`tool_format` is 'plain'), tools are not passed to it, and tool results become user
    messages, since such models know no role for them.
    """

    def __init__(
        self, tokenizer: TextTokenizer, template: ChatTemplate, *, name: str, stops: Sequence[int] = ()
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.template = template
        self.guard = ContentGuard(tokenizer, template.source)
        self._stops = tuple(stops)
        self._end = find_turn_end(template, list(tokenizer.added))
        self._hermes = _shows_hermes_tools(template)
        self._opened = _opened_reasoning(template)

    @property
    def vocab_size(self) -> int:
        return self.tokenizer.size

    @property
    def tool_format(self) -> str:
        return "hermes" if self._hermes else "plain"

    @property
    def stop_token_ids(self) -> tuple[int, ...]:
        ends = () if self._end is None else (self.tokenizer.added[self._end],)
        return tuple(dict.fromkeys((*ends, *self._stops)))

    def with_thinking(self, *, enabled: bool | None) -> "TemplateRenderer":
        template = self.template.with_variables(enable_thinking=enabled)
        return TemplateRenderer(self.tokenizer, template, name=self.name, stops=self._stops)

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        chat = self.guard.hide(messages)
        text = self.template.render(self._shown(chat.messages), self._shown_tools(tools), reply=True)
        return self.guard.encode(text, chat.stand_ins)

    def bridge(
        self, history: Sequence[Message], new: Sequence[Message], tools: Sequence[Tool], *, closed: bool
    ) -> list[int] | None:
        if self._end is None or not history:
            return None
        chat = self.guard.hide(new)
        shown = self._shown(chat.messages)
        text = bridge_text(self.template, (*history[-1:], *shown), self._shown_tools(tools), end=self._end)
        if text is None:
            return None
        # Encoded with the end-of-turn token in front, as in a whole rendering, then without it.
        ids = self.guard.encode(text, chat.stand_ins)
        if ids[:1] != [self.tokenizer.added[self._end]]:
            return None
        return ids[1:] if closed else ids

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text)

    def decode(self, ids: Iterable[int]) -> str:
        return self.tokenizer.decode(ids)

    def turn_text(self, ids: Sequence[int]) -> str:
        ended = bool(ids) and ids[-1] in self.stop_token_ids
        return self._opened + self.tokenizer.decode(ids[:-1] if ended else ids)

    def is_closed(self, ids: Sequence[int]) -> bool:
        return bool(ids) and self._end is not None and ids[-1] == self.tokenizer.added[self._end]

    def _shown(self, messages: Sequence[Message]) -> Sequence[Message]:
        return messages if self._hermes else _results_as_user_messages(messages)

    def _shown_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return tools if self._hermes else ()


def _shows_hermes_tools(template: ChatTemplate) -> bool:
    try:
        text = template.render(({"role": "user", "content": "Hello."},), (PROBE,), reply=True)
    except TemplateRefused:
        return False
    return "<tool_call>" in text and PROBE.name in text


def _opened_reasoning(template: ChatTemplate) -> str:
    """The think tag that the template writes before every reply, so that its text shows where reasoning is."""
    try:
        text = template.render(({"role": "user", "content": "Hello."},), (), reply=True)
    except TemplateRefused:
        return ""
    return text[text.rfind("<think>") :] if text.rstrip().endswith("<think>") else ""


def _results_as_user_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    shown: list[Message] = []
    for message in messages:
        result = message.get("role") == "tool"
        text = _result_text(message) if result else text_of(message)
        # One user turn for results in a row: many such templates insist on alternating roles.
        if result and shown and shown[-1].get("from_tool"):
            text = f"{shown.pop()['content']}\n\n{text}"
        shown.append({"role": "user", "content": text, "from_tool": True} if result else message)
    return tuple(shown)


def _result_text(message: Message) -> str:
    name = message.get("name")
    return f"Output of {name}:\n{text_of(message)}" if name else text_of(message)
