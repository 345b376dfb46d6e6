"""Text from outside is data: what looks like a special token in it is encoded as ordinary text.

Before a chat goes through its template, each such token text in user, assistant and tool content is replaced
by a private-use character; after rendering, the stretch of text around it is encoded without recognising added
tokens. Everything else is encoded in one piece, so honest content gives the ids of the plain rendering.
In user and assistant messages only control tokens are guarded (a prompt may well ask for `<think>`), in tool
results also the markup of the chat template itself (`<tool_call>` and the like). System messages and tool
descriptions are the author's own and are trusted.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raas_sdk.policy import Message
from raas_sdk.tokens.chat_template import text_of
from raas_sdk.tokens.tokenizer import TextTokenizer

__all__ = ["ContentGuard", "GuardedChat"]

PRIVATE_USE = range(0xE000, 0xF900)


@dataclass(frozen=True, slots=True)
class GuardedChat:
    """Messages that are safe to render; `stand_ins` maps private characters to the texts they stand for."""

    messages: tuple[Message, ...]
    stand_ins: Mapping[str, str]


class ContentGuard:
    """Hides token texts in content before rendering and encodes them as plain text afterwards."""

    def __init__(self, tokenizer: TextTokenizer, template_source: str = "") -> None:
        self._tokenizer = tokenizer
        # Vocabularies also add plain pieces, such as runs of spaces: those are no markup and stay as they are.
        markup = {text for text in tokenizer.added if text.strip() and text in template_source}
        control = finder(tokenizer.control)
        self._patterns = {"user": control, "assistant": control, "tool": finder(tokenizer.control | markup)}
        every = finder(tokenizer.added)
        self._splitter = None if every is None else re.compile(f"({every.pattern})")

    def hide(self, messages: Sequence[Message]) -> GuardedChat:
        """Replace token texts in content from outside; honest messages come back as they are."""
        found = sorted({text for message in messages for text in self._found(message)})
        if not found:
            return GuardedChat(tuple(messages), {})
        taken = set(json.dumps(messages, ensure_ascii=False, default=str))
        free = (chr(code) for code in PRIVATE_USE if chr(code) not in taken)
        stand_ins = dict(zip(found, free, strict=False))
        hidden = tuple(self._hidden(message, stand_ins) for message in messages)
        return GuardedChat(hidden, {character: text for text, character in stand_ins.items()})

    def encode(self, text: str, stand_ins: Mapping[str, str]) -> list[int]:
        """Ids of a rendered chat, or a part of it that starts at a special token."""
        if self._splitter is None or not stand_ins:
            return self._tokenizer.encode(text)
        ids: list[int] = []
        trusted: list[str] = []
        table = str.maketrans(dict(stand_ins))
        for part in self._splitter.split(text):
            restored = part.translate(table)
            if restored == part:
                trusted.append(part)
                continue
            ids += self._tokenizer.encode("".join(trusted)) + self._tokenizer.encode_plain(restored)
            trusted = []
        return ids + self._tokenizer.encode("".join(trusted))

    def _found(self, message: Message) -> list[str]:
        pattern = self._patterns.get(str(message.get("role")))
        if pattern is None:
            return []
        texts = [text_of(message), *_strings(message.get("tool_calls"))]
        return [match for text in texts for match in pattern.findall(text)]

    def _hidden(self, message: Message, stand_ins: Mapping[str, str]) -> Message:
        pattern = self._patterns.get(str(message.get("role")))
        if pattern is None:
            return message

        def hide(text: str) -> str:
            return pattern.sub(lambda match: stand_ins[match.group()], text)

        hidden = {**message, "content": hide(text_of(message))}
        if message.get("tool_calls"):
            hidden["tool_calls"] = _mapped(message["tool_calls"], hide)
        return hidden


def finder(texts: Iterable[str]) -> "re.Pattern[str] | None":
    """A pattern that finds these texts, longest first; None where there are none."""
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value
