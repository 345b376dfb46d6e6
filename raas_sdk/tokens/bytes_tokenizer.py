"""A tiny byte-level tokenizer built in code, so that tests and examples need no model."""

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

__all__ = ["END_OF_TEXT", "END_OF_TURN", "START_OF_TURN", "bytes_tokenizer"]

START_OF_TURN = "<|im_start|>"
END_OF_TURN = "<|im_end|>"
END_OF_TEXT = "<|endoftext|>"


def bytes_tokenizer() -> Tokenizer:
    """One token per byte (id = byte value), then the three ChatML tokens as ids 256, 257 and 258."""
    tokenizer = Tokenizer(models.BPE(vocab=_byte_vocabulary(), merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    texts = (START_OF_TURN, END_OF_TURN, END_OF_TEXT)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in texts])
    return tokenizer


def _byte_vocabulary() -> dict[str, int]:
    # The byte-level alphabet: printable bytes stand for themselves, the others are moved to 256 and up.
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = [byte for byte in range(256) if byte not in printable]
    symbols = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(moved)}
    return {symbols[byte]: byte for byte in range(256)}
