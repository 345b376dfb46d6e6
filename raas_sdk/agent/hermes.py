"""Calls in the Hermes and Qwen style: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

Decisions where servers disagree: text after the object inside a block is ignored, a second object is an error;
a complete call that only lacks its end tag counts if nothing but another call follows it; a tag in inline code
is prose; one opened block that never closes is an error, tags opened over and over without an end are just text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from raas_sdk.agent.json_text import JsonFault, JsonValue, read_json_at
from raas_sdk.agent.raw_call import RawCall, RawError, RawReply

__all__ = ["OPENER", "call_skipper", "read_hermes"]

OPENER = "<tool_call>"
CLOSER = "</tool_call>"
TAGS = re.compile(f"{OPENER}|{CLOSER}")
NEXT = re.compile(r"\s*(\S?)")
NEVER_CLOSED = f"a {OPENER} block was opened and never closed with {CLOSER}; it was not run"
CUT = "the tool call was cut off by the length limit and was not run: the reply was truncated"
DOUBLED = f"one {OPENER} block holds more than one JSON object; put each call into its own block"
PATIENCE = 32
"""Openings that lead nowhere, after which the rest of the reply is text: each costs a look at all of it."""
CODE_WINDOW = 300


def call_skipper() -> Callable[[str, int], int]:
    """A function that says where the JSON of a call ends, or gives the position back if there is none."""
    failures = 0

    def skip(text: str, position: int) -> int:
        nonlocal failures
        if failures >= PATIENCE:
            return position
        try:
            return read_json_at(text, position).end
        except JsonFault:
            failures += 1
            return position

    return skip


@dataclass(slots=True)
class Scan:
    """The reading of one reply, tag by tag."""

    text: str
    cut: bool
    parts: list[RawCall | RawError] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    kept_to: int = 0
    unclosed: list[int] = field(default_factory=list)
    failures: int = 0

    def take(self, start: int, end: int, part: RawCall | RawError) -> int:
        """Record a block; text of calls leaves the content, that of errors stays. Return where to go on."""
        self.parts.append(part)
        if isinstance(part, RawCall):
            self.content.append(self.text[self.kept_to : start])
            self.kept_to = end
        return end

    def pass_over(self, position: int) -> int:
        """Leave an opening that leads nowhere in the content; remember it if it meant to be a call."""
        self.failures += 1
        if NEXT.match(self.text, position).group(1) == "{":  # type: ignore[union-attr]
            self.unclosed.append(len(self.parts))
        return position

    def finished(self) -> RawReply:
        """What was read, with one error for a block left open."""
        if len(self.unclosed) == 1:
            self.parts.insert(self.unclosed[0], RawError(CUT if self.cut else NEVER_CLOSED))
        self.content.append(self.text[self.kept_to :])
        return RawReply("".join(self.content).strip(), tuple(self.parts))


def read_hermes(text: str, *, cut: bool) -> RawReply:
    """Find the calls of a reply without reasoning; `cut` says that the backend stopped it early."""
    scan = Scan(text, cut)
    tags = list(TAGS.finditer(text))
    position = 0
    for number, tag in enumerate(tags):
        if scan.failures >= PATIENCE:
            break
        if tag.start() >= position and tag.group() == OPENER and not _in_inline_code(text, tag):
            following = tags[number + 1] if number + 1 < len(tags) else None
            position = _read_block(scan, tag, following)
    return scan.finished()


def _read_block(scan: Scan, tag: "re.Match[str]", following: "re.Match[str] | None") -> int:
    try:
        found = read_json_at(scan.text, tag.end())
    except JsonFault as fault:
        if following is None or following.group() == OPENER:
            return scan.pass_over(tag.end())
        error = RawError(f"the tool call could not be parsed as JSON: {fault}")
        return scan.take(tag.start(), following.end(), error)
    closing = TAGS.search(scan.text, found.end)
    if closing is None or closing.group() == OPENER:
        return _read_open_block(scan, tag, found)
    doubled = NEXT.match(scan.text, found.end).group(1) == "{"  # type: ignore[union-attr]
    return scan.take(tag.start(), closing.end(), RawError(DOUBLED) if doubled else RawCall(found.value))


def _read_open_block(scan: Scan, tag: "re.Match[str]", found: JsonValue) -> int:
    after = NEXT.match(scan.text, found.end)
    at_end = after is not None and not after.group(1)
    next_call = after is not None and scan.text.startswith(OPENER, after.start(1))
    if next_call or (at_end and not scan.cut):
        return scan.take(tag.start(), found.end, RawCall(found.value))
    scan.pass_over(tag.end())
    return found.end


def _in_inline_code(text: str, tag: "re.Match[str]") -> bool:
    """Whether the tag stands between single backticks on its line."""
    before = text[max(0, tag.start() - CODE_WINDOW) : tag.start()].rpartition("\n")[2]
    after = text[tag.end() : tag.end() + CODE_WINDOW].partition("\n")[0]
    single = before.replace("```", "").count("`")
    return single % 2 == 1 and "`" in after.replace("```", "")
