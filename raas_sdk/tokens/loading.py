"""Finds the right renderer for a tokenizer source: a directory, a GGUF file or the test tokenizer."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from raas_sdk.errors import SettingsInvalid
from raas_sdk.tokens.bytes_tokenizer import END_OF_TEXT, bytes_tokenizer
from raas_sdk.tokens.chat_template import ChatTemplate
from raas_sdk.tokens.families import family_renderer
from raas_sdk.tokens.renderer import Renderer
from raas_sdk.tokens.template_renderer import TemplateRenderer
from raas_sdk.tokens.tokenizer import TextTokenizer

__all__ = ["load_renderer"]

TEST_TEMPLATES = {"test:chatml": "chatml.jinja", "test:plain": "plain.jinja"}
ENDS_OF_TEXT = ("<|endoftext|>", "<|end_of_text|>", "<|eom_id|>", "</s>", "<eos>")
"""Control tokens after which no model says anything more, whether or not its files declare them."""
ADVICE = "give a directory with tokenizer.json and a chat template, or a .gguf file"


def load_renderer(source: str, *, enable_thinking: bool | None = None) -> Renderer:
    """Read tokenizer and chat template from `source` once; raise SettingsInvalid if it can't be used.

    A directory holds tokenizer.json and its template in chat_template.jinja or tokenizer_config.json; a
    `.gguf` file has both. 'test:chatml' and 'test:plain' need no files. Blocks while it reads: load at start.
    """
    renderer = _load(source)
    return renderer if enable_thinking is None else renderer.with_thinking(enabled=enable_thinking)


def _load(source: str) -> Renderer:
    if source in TEST_TEMPLATES:
        return _test_renderer(source)
    path = Path(source)
    if path.is_dir():
        return _from_directory(path)
    if path.suffix == ".gguf" and path.is_file():
        return _from_gguf(path)
    raise SettingsInvalid(f"no tokenizer at {source!r}; {ADVICE}")


def _test_renderer(source: str) -> Renderer:
    template = Path(__file__).with_name("templates").joinpath(TEST_TEMPLATES[source])
    tokenizer = TextTokenizer(bytes_tokenizer())
    chat = ChatTemplate(template.read_text(encoding="utf-8"), {})
    return TemplateRenderer(tokenizer, chat, name=source, stops=(tokenizer.added[END_OF_TEXT],))


def _from_directory(path: Path) -> Renderer:
    tokenizer = TextTokenizer(_read_tokenizer(path / "tokenizer.json"))
    config = _read_json(path / "tokenizer_config.json")
    texts = {key: _token_text(config.get(key)) for key in ("bos_token", "eos_token", "pad_token", "unk_token")}
    variables = {key: text for key, text in texts.items() if text is not None}
    template = ChatTemplate(_template_source(path, config), variables)
    stops = _stops(path, tokenizer, texts)
    return family_renderer(TemplateRenderer(tokenizer, template, name=str(path), stops=stops))


def _read_tokenizer(path: Path) -> Tokenizer:
    if not path.is_file():
        raise SettingsInvalid(f"{str(path)!r} does not exist; {ADVICE}")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise SettingsInvalid(f"{str(path)!r} is not a tokenizer: {error}; {ADVICE}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SettingsInvalid(f"{str(path)!r} is not JSON: {error}; fetch it again") from error
    return content if isinstance(content, dict) else {}


def _token_text(value: Any) -> str | None:
    return value.get("content") if isinstance(value, dict) else value


def _template_source(path: Path, config: dict[str, Any]) -> str:
    file = path / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    found = config.get("chat_template")
    if isinstance(found, list):
        named = {entry.get("name"): entry.get("template") for entry in found}
        found = named.get("default")
    if not isinstance(found, str):
        fault = f"{str(path)!r} has no chat template; add chat_template.jinja to it (base models have none)"
        raise SettingsInvalid(fault)
    return found


def _stops(path: Path, tokenizer: TextTokenizer, texts: dict[str, str | None]) -> tuple[int, ...]:
    declared = _read_json(path / "generation_config.json").get("eos_token_id") or []
    eos = tokenizer.added.get(texts["eos_token"] or "")
    ids = [*([] if eos is None else [eos]), *(declared if isinstance(declared, list) else [declared])]
    return tuple(dict.fromkeys((*ids, *_ends_of_text(tokenizer))))


def _ends_of_text(tokenizer: TextTokenizer) -> list[int]:
    return [tokenizer.added[text] for text in ENDS_OF_TEXT if text in tokenizer.control]


def _from_gguf(path: Path) -> Renderer:
    from raas_sdk.tokens.gguf import load_gguf

    model = load_gguf(path)
    texts = {"bos_token": model.bos_text, "eos_token": model.eos_text}
    variables = {key: text for key, text in texts.items() if text is not None}
    template = ChatTemplate(model.chat_template, variables)
    tokenizer = TextTokenizer(model.tokenizer)
    stops = [*([] if model.eos_id is None else [model.eos_id]), *_ends_of_text(tokenizer)]
    return family_renderer(TemplateRenderer(tokenizer, template, name=str(path), stops=stops))
