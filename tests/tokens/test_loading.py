import json

import pytest

from raas_sdk.errors import SettingsInvalid
from raas_sdk.tokens import Renderer, load_renderer
from raas_sdk.tokens.bytes_tokenizer import bytes_tokenizer
from raas_sdk.tokens.chat_template import ChatTemplate, TemplateRefused
from raas_sdk.workspace import Tool

TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}"
HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def model(tmp_path):
    bytes_tokenizer().save(str(tmp_path / "tokenizer.json"))

    def write(**files):
        for name, content in files.items():
            path = tmp_path / {"template": "chat_template.jinja"}.get(name, f"{name}.json")
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(tmp_path)

    return write


def test_a_directory_with_a_template_file_is_loaded(model):
    config = {"bos_token": {"content": "<|im_start|>"}, "eos_token": "<|endoftext|>"}
    renderer = load_renderer(model(template=TEMPLATE, tokenizer_config=config))
    assert isinstance(renderer, Renderer)
    assert renderer.decode(renderer.prompt(HELLO, ())) == "<|im_start|>user: Hello<|im_end|>"
    assert renderer.stop_token_ids == (257, 258)
    assert renderer.vocab_size == 259
    assert renderer.tool_format == "plain"


def test_a_template_in_the_tokenizer_config_is_found(model):
    named = [{"name": "rag", "template": "no"}, {"name": "default", "template": TEMPLATE}]
    for template in (TEMPLATE, named):
        renderer = load_renderer(model(tokenizer_config={"chat_template": template, "bos_token": None}))
        assert renderer.decode(renderer.prompt(HELLO, ())) == "user: Hello<|im_end|>"


def test_stop_ids_of_the_generation_config_are_used(model):
    source = model(template=TEMPLATE, generation_config={"eos_token_id": [256, 257]})
    assert load_renderer(source).stop_token_ids == (257, 256, 258)


def test_truncation_and_padding_of_the_tokenizer_file_are_switched_off(tmp_path):
    tokenizer = bytes_tokenizer()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=64, pad_id=258)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    renderer = load_renderer(str(tmp_path))
    assert renderer.decode(renderer.prompt(HELLO, ())) == "user: Hello<|im_end|>"


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({}, "no chat template"),
        ({"tokenizer_config": "{"}, "not JSON"),
        ({"template": "{% if %}"}, "cannot be compiled"),
        ({"template": TEMPLATE, "tokenizer": "{}"}, "not a tokenizer"),
    ],
)
def test_a_directory_that_cannot_be_used_is_refused_with_the_reason(model, files, fault):
    with pytest.raises(SettingsInvalid, match=fault):
        load_renderer(model(**files))


def test_a_source_that_does_not_exist_is_refused_with_advice(tmp_path):
    for source in (str(tmp_path / "nowhere"), "test:unknown", str(tmp_path)):
        with pytest.raises(SettingsInvalid, match=r"give a directory with tokenizer\.json"):
            load_renderer(source)


def test_the_test_tokenizer_has_one_id_per_byte():
    renderer = load_renderer("test:chatml")
    text = "aü😀\n\t"
    assert renderer.decode(list(text.encode())) == text
    assert renderer.stop_token_ids == (257, 258)
    assert renderer.tool_format == "hermes"
    assert load_renderer("test:plain").tool_format == "plain"


def test_a_turn_is_read_without_the_token_that_ended_it():
    renderer = load_renderer("test:chatml")
    assert renderer.turn_text([*b"hi", 257]) == "hi"
    assert renderer.turn_text([*b"hi", 258]) == "hi"
    assert renderer.turn_text([256, *b"hi"]) == "<|im_start|>hi"
    assert renderer.turn_text([]) == ""
    assert [renderer.is_closed(ids) for ids in ([1, 257], [1, 258], [1], [])] == [True, False, False, False]


def test_tools_are_shown_by_the_template_where_it_can():
    tools = (Tool("lookup", "Looks <up> & down.", {"type": "object"}),)
    shown = load_renderer("test:chatml").decode(load_renderer("test:chatml").prompt(HELLO, tools))
    assert '"description": "Looks <up> & down."' in shown
    hidden = load_renderer("test:plain").decode(load_renderer("test:plain").prompt(HELLO, tools))
    assert "lookup" not in hidden


def test_templates_may_use_what_models_expect():
    source = (
        "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}"
        "{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
        "{{ [1, 'é<'] | tojson(indent=1) }}{{ strftime_now('%Y') | length }}{{ tools is none }}"
    )
    text = ChatTemplate(source, {}).render([*HELLO, *HELLO], (), reply=False)
    assert text == 'Hello[\n 1,\n "é<"\n]4True'


def test_templates_cannot_reach_python():
    with pytest.raises(TemplateRefused):
        ChatTemplate("{{ messages.__class__.__mro__[1].__subclasses__() }}", {}).render(HELLO, (), reply=False)


def test_a_template_that_refuses_a_chat_says_why():
    template = ChatTemplate("{{ raise_exception('no system role') }}", {})
    with pytest.raises(TemplateRefused, match="no system role") as caught:
        template.render(HELLO, (), reply=True)
    assert caught.value.code == "template_refused"


def test_content_in_parts_is_joined_and_pictures_are_refused():
    template = ChatTemplate("{{ messages[0].content }}", {})
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert template.render([{"role": "user", "content": parts}], (), reply=True) == "ab"
    assert template.render([{"role": "user", "content": None}], (), reply=True) == ""
    with pytest.raises(TemplateRefused, match="not text"):
        template.render([{"role": "user", "content": [{"type": "image"}]}], (), reply=True)
