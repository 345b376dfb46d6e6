"""Model families that the optional `renderers` package knows: their bridges are used instead of the generic one.

A family is taken only after its renderings of a few chats equal those of the model's own template id for id,
so that a changed template is never mistaken for the family it came from. Prompts always come from the template.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from raas_sdk.policy import Message
from raas_sdk.tokens.chat_template import ChatTemplate, TemplateRefused, template_message
from raas_sdk.tokens.guard import ContentGuard
from raas_sdk.tokens.template_renderer import TemplateRenderer
from raas_sdk.tokens.tokenizer import TextTokenizer
from raas_sdk.trajectory import tool_schema
from raas_sdk.workspace import Tool

__all__ = ["RenderersRenderer", "family_renderer"]

Family = Callable[[Any, bool | None], Any]
"""Builds a renderer of the package from a tokenizer and the thinking switch."""

QWEN3_TOKENS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "<tool_response>", "</think>")
PROBE = Tool("probe_tool", "Probes.", {"type": "object", "properties": {"x": {"type": "integer"}}})
CALL: Message = {"tool_calls": [{"id": "c", "name": PROBE.name, "arguments": {"x": 1}}]}
THOUGHT = "<think>\nSo.\n</think>\n\n"
SYSTEM, USER, RESULT = ({"role": role, "content": f"The {role}."} for role in ("system", "user", "tool"))
PROBES: tuple[tuple[Message, ...], ...] = (
    (USER,),
    (SYSTEM, USER),
    (SYSTEM, USER, {"role": "assistant", "content": "Yes."}, USER),
    (USER, {"role": "assistant", "content": THOUGHT + "Yes."}, USER),
    (USER, {"role": "assistant", "content": THOUGHT, **CALL}, RESULT),
    (USER, {"role": "assistant", "content": THOUGHT + "Look.", **CALL}, RESULT, RESULT),
)


def family_renderer(plain: TemplateRenderer) -> TemplateRenderer:
    """A renderer with the family's bridges if `renderers` is installed and knows the family, else `plain`."""
    if plain.tool_format != "hermes" or not all(text in plain.tokenizer.added for text in QWEN3_TOKENS):
        return plain
    family = _qwen3()
    if family is None or not _agrees(family, plain.tokenizer, plain.template):
        return plain
    return RenderersRenderer(plain, family)


class RenderersRenderer(TemplateRenderer):
    """The template's prompts with the bridges of a family of the `renderers` package."""

    def __init__(self, plain: TemplateRenderer, family: Family) -> None:
        super().__init__(plain.tokenizer, plain.template, name=plain.name, stops=plain.stop_token_ids)
        self._family = family

    def with_thinking(self, *, enabled: bool | None) -> "RenderersRenderer":
        return RenderersRenderer(super().with_thinking(enabled=enabled), self._family)

    def bridge(
        self, history: Sequence[Message], new: Sequence[Message], tools: Sequence[Tool], *, closed: bool
    ) -> list[int] | None:
        if not history or not new:
            return super().bridge(history, new, tools, closed=closed)
        chat = self.guard.hide((history[-1], *new))
        spelling = Spelling(self.tokenizer, self.guard, chat.stand_ins)
        family = self._family(spelling, self.template.variables.get("enable_thinking"))
        shown = [template_message(message) for message in chat.messages]
        # The package wants ids to extend. Those of a stand-in for the history do: only what it adds is kept,
        # and it looks at the reply for nothing but reasoning that was left open.
        prompt = family.render_ids([dict(USER)], add_generation_prompt=True)
        reply = [*spelling.encode(shown[0]["content"]), *self.stop_token_ids[: 1 if closed else 0]]
        schemas = [tool_schema(tool) for tool in tools] or None
        extended = family.bridge_to_next_turn(prompt, reply, shown[1:], tools=schemas)
        return None if extended is None else list(extended.token_ids)[len(prompt) + len(reply) :]


class Spelling:
    """A tokenizer as the package expects it, which keeps guarded content from turning into tokens."""

    def __init__(self, tokenizer: TextTokenizer, guard: ContentGuard, stand_ins: Mapping[str, str]) -> None:
        self.name_or_path = ""
        self.unk_token_id = None
        self.eos_token_id = None
        self._tokenizer = tokenizer
        self._guard = guard
        self._stand_ins = stand_ins

    def encode(self, text: str, **options: Any) -> list[int]:
        """Ids without any token added in front or behind."""
        return self._guard.encode(text, self._stand_ins)

    def decode(self, token_ids: Iterable[int], **options: Any) -> str:
        """Text with special tokens kept."""
        return self._tokenizer.decode(token_ids)

    def convert_tokens_to_ids(self, tokens: str) -> int | None:
        """The id of an added token, None for others."""
        return self._tokenizer.added.get(tokens)


def _qwen3() -> Family | None:
    try:
        from renderers.configs import Qwen3RendererConfig
        from renderers.qwen3 import Qwen3Renderer
    except ImportError:
        return None

    def build(tokenizer: Any, enable_thinking: bool | None) -> Any:  # noqa: FBT001  (one of two inputs)
        return Qwen3Renderer(tokenizer, Qwen3RendererConfig(enable_thinking=enable_thinking is not False))

    return build


def _agrees(family: Family, tokenizer: TextTokenizer, template: ChatTemplate) -> bool:
    spelled = family(Spelling(tokenizer, ContentGuard(tokenizer), {}), None)
    default = template.with_variables(enable_thinking=None)
    for tools in ((), (PROBE,)):
        schemas = [tool_schema(tool) for tool in tools] or None
        for chat in PROBES:
            shown = [template_message(message) for message in chat]
            try:
                expected = tokenizer.encode(default.render(chat, tools, reply=True))
            except TemplateRefused:
                return False
            if spelled.render_ids(shown, tools=schemas, add_generation_prompt=True) != expected:
                return False
    return True
