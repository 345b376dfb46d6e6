"""What the token tests share: renderers over the byte tokenizer, and a conversation driven as a host would."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from raas_sdk.tokens import Ledger, TemplateRenderer
from raas_sdk.tokens.bytes_tokenizer import bytes_tokenizer
from raas_sdk.tokens.chat_template import ChatTemplate
from raas_sdk.tokens.tokenizer import TextTokenizer

TEMPLATES = Path(__file__).with_name("templates")


@dataclass
class Driver:
    """Sends, samples and appends; `log` holds (ids sent, ids sampled, number of the segment)."""

    renderer: object
    messages: list
    tools: tuple = ()
    ledger: Ledger = field(default_factory=Ledger)
    log: list = field(default_factory=list)
    segments: int = 0

    def start(self):
        self.ledger.start_segment(self.renderer.prompt(self.messages, self.tools), messages=len(self.messages))
        self.segments += 1

    def reply(self, ids, *, finish_reason="stop", tool_calls=()):
        sent = self.ledger.current_ids().tolist()
        self.log.append((sent, list(ids), self.segments))
        index = len(self.messages)
        self.ledger.append_sampled(ids, [-0.5] * len(ids), message_index=index, finish_reason=finish_reason, version=3)
        text = self.renderer.turn_text(ids)
        calls = {"tool_calls": list(tool_calls)} if tool_calls else {}
        self.messages.append({"role": "assistant", "content": text, **calls})
        self.closed = self.renderer.is_closed(ids)

    def tell(self, *new):
        bridge = self.renderer.bridge(self.messages, new, self.tools, closed=self.closed)
        index = len(self.messages)
        self.messages.extend(new)
        if bridge is None:
            self.start()
        else:
            self.ledger.append_context(bridge, message_index=index, role=new[0]["role"] if new else "assistant")


@pytest.fixture(scope="session")
def renderer_for():
    def build(name):
        source = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
        return TemplateRenderer(TextTokenizer(bytes_tokenizer()), ChatTemplate(source, {}), name=name, stops=(258,))

    return build


@pytest.fixture(scope="session")
def driver():
    return Driver
