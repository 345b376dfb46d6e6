"""Text to ids and back over a plain `tokenizers.Tokenizer`, with added tokens recognised or not."""

from collections.abc import Iterable, Mapping

from tokenizers import AddedToken, Tokenizer

__all__ = ["TextTokenizer"]


class TextTokenizer:
    """A tokenizer as renderers need it: it never adds tokens of its own.

    `added` maps the text of every added token to its id; `control` holds those flagged special (end of turn,
    end of text, roles), which text from outside must never turn into.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        table: Mapping[int, AddedToken] = tokenizer.get_added_tokens_decoder()
        self._tokenizer = tokenizer
        self.added: Mapping[str, int] = {token.content: number for number, token in table.items()}
        self.control: frozenset[str] = frozenset(t.content for t in table.values() if t.special)
        self.size: int = max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1

    def encode(self, text: str) -> list[int]:
        """Ids of trusted text: added tokens in it become their ids."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_plain(self, text: str) -> list[int]:
        """Ids of text from outside: what looks like an added token stays ordinary text."""
        ids = self._without_added(text)
        forbidden = set(self.added.values())
        if forbidden.isdisjoint(ids):
            return ids
        # Some vocabularies spell an added token as one ordinary piece; single characters cannot.
        return [number for character in text for number in self._without_added(character)]

    def decode(self, ids: Iterable[int]) -> str:
        """Text of the ids, special tokens kept; broken UTF-8 shows as replacement characters."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return text

    def _without_added(self, text: str) -> list[int]:
        normalizer, splitter = self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        normal = normalizer.normalize_str(text) if normalizer is not None else text
        pieces = [normal] if splitter is None else [p for p, _ in splitter.pre_tokenize_str(normal)]
        model = self._tokenizer.model
        return [token.id for piece in pieces for token in model.tokenize(piece)]
