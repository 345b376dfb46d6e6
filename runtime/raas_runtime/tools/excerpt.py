"""The part of an endless output that a model gets to see."""

import codecs

__all__ = ["Excerpt", "shorten"]


class Excerpt:
    """Keeps the first three quarters and the last quarter of `limit` characters; memory stays near `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_room = limit - limit // 4
        self._head: list[str] = []
        self._tail = ""
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def truncated(self) -> bool:
        """Whether something was left out."""
        return self._total > self._limit

    def feed(self, data: bytes) -> None:
        """Add bytes of the output; what is not UTF-8 is replaced."""
        self._add(self._decoder.decode(data))

    def text(self) -> str:
        """The output, with a line in the middle that says how much was left out. Ends the feeding."""
        self._add(self._decoder.decode(b"", final=True))
        head = "".join(self._head)
        if not self.truncated:
            return head + self._tail
        left_out = self._total - len(head) - len(self._tail)
        return f"{head}\n[... {left_out} of {self._total} characters left out ...]\n{self._tail}"

    def _add(self, text: str) -> None:
        self._total += len(text)
        if self._head_room:
            part, text = text[: self._head_room], text[self._head_room :]
            self._head.append(part)
            self._head_room -= len(part)
        if text:
            self._tail = (self._tail + text)[-max(1, self._limit // 4) :]


def shorten(text: str, limit: int) -> str:
    """The text cut the same way; unchanged where it fits."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit - limit // 4], text[-max(1, limit // 4) :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} of {len(text)} characters left out ...]\n{tail}"
