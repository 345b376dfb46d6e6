"""The tokenizer and chat template that a GGUF file carries, as llama.cpp would use them.

Byte-level BPE only. How text is cut into words before the merges is a name in the file (`tokenizer.ggml.pre`)
that stands for code in llama.cpp; a name whose rule is not known here is refused, never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from raas_sdk.errors import SettingsInvalid
from raas_sdk.tokens.gguf_metadata import read_metadata

__all__ = ["GgufModel", "load_gguf"]

CONTROL, USER_DEFINED = 3, 4


@dataclass(frozen=True, slots=True)
class GgufModel:
    """What a GGUF file says about text; an id or text of begin or end is None where it declares none."""

    name: str
    tokenizer: Tokenizer
    chat_template: str
    context_length: int | None
    bos_id: int | None
    bos_text: str | None
    eos_id: int | None
    eos_text: str | None


def load_gguf(path: Path | str) -> GgufModel:
    """Read tokenizer, template and special tokens, about 0.2 s; raise SettingsInvalid if they can't be used."""
    source = Path(path)
    metadata = read_metadata(source)
    texts: Sequence[str] = _needed(metadata, "tokenizer.ggml.tokens", source)
    bos, eos = (_token(metadata, name, len(texts), source) for name in ("bos", "eos"))
    architecture = metadata.get("general.architecture")
    return GgufModel(
        name=str(metadata.get("general.name", source.stem)),
        tokenizer=_tokenizer(metadata, texts, source),
        chat_template=str(_needed(metadata, "tokenizer.chat_template", source)),
        context_length=metadata.get(f"{architecture}.context_length"),
        bos_id=bos,
        bos_text=None if bos is None else texts[bos],
        eos_id=eos,
        eos_text=None if eos is None else texts[eos],
    )


def _needed(metadata: Mapping[str, Any], key: str, source: Path) -> Any:
    if key not in metadata:
        raise SettingsInvalid(f"{str(source)!r} has no {key!r}; use a directory with tokenizer.json and a template")
    return metadata[key]


def _token(metadata: Mapping[str, Any], name: str, size: int, source: Path) -> int | None:
    number = metadata.get(f"tokenizer.ggml.{name}_token_id")
    if number is None:
        return None
    if not isinstance(number, int) or not 0 <= number < size:
        raise SettingsInvalid(f"{str(source)!r} names {number!r} as {name} token of {size}; fetch it again")
    return number


def _tokenizer(metadata: Mapping[str, Any], texts: Sequence[str], source: Path) -> Tokenizer:
    family = _needed(metadata, "tokenizer.ggml.model", source)
    if family != "gpt2":
        raise SettingsInvalid(f"{str(source)!r} has a {family!r} tokenizer; only byte-level BPE ('gpt2') is read")
    splitter = _splitter(_needed(metadata, "tokenizer.ggml.pre", source), source)
    merges = [_merge(line, source) for line in _needed(metadata, "tokenizer.ggml.merges", source)]
    vocabulary = {text: number for number, text in enumerate(texts)}
    try:
        tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    except Exception as error:
        raise SettingsInvalid(f"the merges in {str(source)!r} do not fit its tokens: {error}") from error
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoders.ByteLevel()
    kinds: Sequence[int] = metadata.get("tokenizer.ggml.token_type", ())
    tokenizer.add_special_tokens([_added(text) for text, kind in zip(texts, kinds, strict=False) if kind == CONTROL])
    tokenizer.add_tokens([_added(text) for text, kind in zip(texts, kinds, strict=False) if kind == USER_DEFINED])
    return tokenizer


def _merge(line: str, source: Path) -> tuple[str, str]:
    left, space, right = line.partition(" ")
    if not space:
        raise SettingsInvalid(f"{str(source)!r} has a broken merge {line!r}; fetch it again")
    return left, right


def _added(text: str) -> AddedToken:
    return AddedToken(text, normalized=False)


def _splitter(name: str, source: Path) -> pre_tokenizers.PreTokenizer:
    if name not in SPLITTERS:
        known = f"known: {sorted(SPLITTERS)!r}"
        advice = "give a directory with tokenizer.json instead"
        raise SettingsInvalid(f"{str(source)!r} cuts words by {name!r}, which is not known here ({known}); {advice}")
    return SPLITTERS[name]()


def _smollm() -> pre_tokenizers.PreTokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    return pre_tokenizers.Sequence([digits, words])


SPLITTERS: Mapping[str, Callable[[], pre_tokenizers.PreTokenizer]] = {"smollm": _smollm}
