"""The generic bridge: what a chat template puts between a finished reply and the next one.

It is the difference of two renderings, render(stable prefix + new messages) - render(stable prefix), where the
prefix is one user message and one reply that stand in for the whole history. So the cost depends on the new
messages alone and no old reply is ever rendered again. It holds only if the longer rendering starts with the
shorter one: a template that rewrites earlier turns gives no bridge.
"""

from collections.abc import Iterator, Sequence

from raas_sdk.policy import Message
from raas_sdk.tokens.chat_template import ChatTemplate, TemplateRefused
from raas_sdk.workspace import Tool

__all__ = ["bridge_text", "find_turn_end"]

QUESTION = "What is next?"
REPLY = "It is this."
THOUGHT = "<think>\nLet me see.\n</think>\n\n"


def find_turn_end(template: ChatTemplate, tokens: Sequence[str]) -> str | None:
    """The token text that follows a reply in this template; None if there is none to be found."""
    try:
        text = template.render(_prefix(REPLY), (), reply=False)
    except TemplateRefused:
        return None
    after = text[text.rfind(REPLY) + len(REPLY) :].lstrip()
    return next((token for token in sorted(tokens, key=len, reverse=True) if after.startswith(token)), None)


def bridge_text(template: ChatTemplate, messages: Sequence[Message], tools: Sequence[Tool], *, end: str) -> str | None:
    """The text from the end-of-turn token `end` of the reply messages[0] up to the next reply, or None."""
    reply, *new = messages
    for prefix in _stable_prefixes(reply):
        try:
            before = template.render(prefix, tools, reply=False)
            after = template.render((*prefix, *new), tools, reply=True)
        except TemplateRefused:
            continue
        border = before.rfind(end)
        if border > before.rfind(REPLY) >= 0 and after.startswith(before):
            return after[border:]
    return None


def _stable_prefixes(last: Message) -> Iterator[tuple[Message, ...]]:
    # Templates that look at the reply before a tool result get the real calls; those that treat reasoning
    # apart may be stable for a reply that has some and not for one without.
    calls = last.get("tool_calls")
    if calls:
        yield _prefix(REPLY, tool_calls=calls)
        yield _prefix(THOUGHT + REPLY, tool_calls=calls)
    yield _prefix(REPLY)
    yield _prefix(THOUGHT + REPLY)


def _prefix(reply: str, **more: object) -> tuple[Message, ...]:
    return {"role": "user", "content": QUESTION}, {"role": "assistant", "content": reply, **more}
