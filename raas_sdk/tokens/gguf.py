"""Reads a GGUF file's tokenizer and chat template, so that a llama.cpp model needs no other files.

Format: the GGUF specification of ggml, version 2 and 3: header, then typed key-value pairs. Only the pairs are read,
never the tensors.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from raas_sdk.errors import SettingsInvalid

__all__ = ["GgufModel", "load_gguf", "read_metadata"]

MAGIC = b"GGUF"
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
CONTROL, USER_DEFINED = 3, 4
MAX_ITEMS = 10_000_000


@dataclass(frozen=True, slots=True)
class GgufModel:
    """What a renderer needs of a model file."""

    tokenizer: Tokenizer
    chat_template: str
    bos_id: int | None
    eos_id: int | None
    bos_text: str | None
    eos_text: str | None


def load_gguf(path: Path) -> GgufModel:
    """Build the tokenizer from the file; raise SettingsInvalid where it is of a kind this cannot build."""
    data = read_metadata(path)
    kind = data.get("tokenizer.ggml.model")
    if kind != "gpt2":
        raise SettingsInvalid(f"{str(path)!r} has a tokenizer of kind {kind!r}; only byte-level BPE ('gpt2') is read")
    template = data.get("tokenizer.chat_template")
    if not isinstance(template, str):
        raise SettingsInvalid(f"{str(path)!r} has no chat template; use an instruction-tuned model")
    texts: list[str] = data["tokenizer.ggml.tokens"]
    bos, eos = data.get("tokenizer.ggml.bos_token_id"), data.get("tokenizer.ggml.eos_token_id")
    return GgufModel(
        tokenizer=_tokenizer(data, texts, path),
        chat_template=template,
        bos_id=bos,
        eos_id=eos,
        bos_text=None if bos is None else texts[bos],
        eos_text=None if eos is None else texts[eos],
    )


def read_metadata(path: Path) -> dict[str, Any]:
    """All key-value pairs of the file; raise SettingsInvalid if it is no GGUF file."""
    with path.open("rb") as file:
        try:
            if file.read(4) != MAGIC:
                raise SettingsInvalid(f"{str(path)!r} is not a GGUF file")
            _version, _tensors, pairs = _unpack(file, "IQQ")
            return dict(_pair(file) for _ in range(pairs))
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise SettingsInvalid(f"{str(path)!r} is a damaged GGUF file: {error}; fetch it again") from error


def _pair(file: BinaryIO) -> tuple[str, Any]:
    key = _string(file)
    (kind,) = _unpack(file, "I")
    return key, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind != ARRAY:
        return _unpack(file, SCALARS[kind])[0]
    item, count = _unpack(file, "IQ")
    if count > MAX_ITEMS:
        raise struct.error(f"an array of {count} items")
    if item in SCALARS:
        return list(_unpack(file, f"{count}{SCALARS[item]}"))
    return [_value(file, item) for _ in range(count)]


def _string(file: BinaryIO) -> str:
    (size,) = _unpack(file, "Q")
    if size > MAX_ITEMS:
        raise struct.error(f"a text of {size} bytes")
    return file.read(size).decode()


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    layout = struct.Struct("<" + form)
    return layout.unpack(file.read(layout.size))


def _tokenizer(data: Mapping[str, Any], texts: list[str], path: Path) -> Tokenizer:
    merges = [tuple(merge.split(" ", 1)) for merge in data["tokenizer.ggml.merges"]]
    vocabulary = {text: number for number, text in enumerate(texts)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = _pre_tokenizer(str(data.get("tokenizer.ggml.pre")), path)
    tokenizer.decoder = decoders.ByteLevel()
    kinds = data.get("tokenizer.ggml.token_type") or []
    control = [AddedToken(texts[i], special=True, normalized=False) for i, k in enumerate(kinds) if k == CONTROL]
    defined = [AddedToken(texts[i], normalized=False) for i, k in enumerate(kinds) if k == USER_DEFINED]
    tokenizer.add_special_tokens(control)
    tokenizer.add_tokens(defined)
    return tokenizer


def _pre_tokenizer(name: str, path: Path) -> pre_tokenizers.PreTokenizer:
    """How text is split before merging, by llama.cpp's name for it; only what was proved equal to its server."""
    if name != "smollm":
        raise SettingsInvalid(f"{str(path)!r} splits text as {name!r}, not as smollm; use tokenizer.json instead")
    digits = pre_tokenizers.Digits(individual_digits=True)
    return pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
