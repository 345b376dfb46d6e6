"""The Hermes style: every row is a reply, the calls to run and a word of each error shown to the model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.agent import parse_tool_calls


def block(name, arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def raw(body):
    return f"<tool_call>{body}</tool_call>"


def bash(command):
    return ("execute_bash", {"command": command})


LS = block("execute_bash", {"command": "ls"})

GOOD = {
    "one call with text before it": (f"Let me look.\n{LS}", [bash("ls")]),
    "text after a call": (f"{LS}\nNow I wait.", [bash("ls")]),
    "two calls in order": (block(*bash("a")) + "\n" + block(*bash("b")), [bash("a"), bash("b")]),
    "the same call twice is two calls": (LS + LS, [bash("ls"), bash("ls")]),
    "braces in a string": (block(*bash("cp src/{a.c,b.c")), [bash("cp src/{a.c,b.c")]),
    "brackets and quotes in a string": (block(*bash('echo "}]" \\"')), [bash('echo "}]" \\"')]),
    "an end tag in a string": (block(*bash("echo '</tool_call>'")), [bash("echo '</tool_call>'")]),
    "a start tag in a string": (block(*bash("echo '<tool_call>'")), [bash("echo '<tool_call>'")]),
    "a think tag in a string": (block(*bash("echo '</think><think>'")), [bash("echo '</think><think>'")]),
    "compact JSON": (raw('{"name":"execute_bash","arguments":{"command":"ls"}}'), [bash("ls")]),
    "arguments first": (raw('{"arguments":{"command":"ls"},"name":"execute_bash"}'), [bash("ls")]),
    "text after the object": (
        raw('{"name":"execute_bash","arguments":{"command":"ls"}}\nI will wait.\n'),
        [bash("ls")],
    ),
    "one brace too many": (raw('{"name":"execute_bash","arguments":{"command":"ls"}}}'), [bash("ls")]),
    "arguments as JSON text": (raw('{"name":"execute_bash","arguments":"{\\"command\\": \\"ls\\"}"}'), [bash("ls")]),
    "parameters for arguments": (raw('{"name":"execute_bash","parameters":{"command":"ls"}}'), [bash("ls")]),
    "a real line break in a string": (
        raw('{"name":"ipython","arguments":{"code":"a\nb"}}'),
        [("ipython", {"code": "a\nb"})],
    ),
    "a real tab in a string": (
        raw('{"name":"ipython","arguments":{"code":"if x:\n\ty"}}'),
        [("ipython", {"code": "if x:\n\ty"})],
    ),
    "one escape is one, two stay two": (
        raw('{"name":"ipython","arguments":{"code":"print(\\"a\\\\nb\\")\\nx=1"}}'),
        [("ipython", {"code": 'print("a\\nb")\nx=1'})],
    ),
    "escapes, emoji, separators": (
        raw('{"name":"execute_bash","arguments":{"command":"echo \\u017c\\ud83d\\ude00\\u2028x"}}'),
        [bash("echo ż😀\u2028x")],
    ),
    "no arguments where none are needed": (raw('{"name":"finish"}'), [("finish", {})]),
    "null arguments where none are needed": (raw('{"name":"finish","arguments":null}'), [("finish", {})]),
    "empty text as arguments": (raw('{"name":"finish","arguments":""}'), [("finish", {})]),
    "a name with white space": (raw('{"name":" finish\\n"}'), [("finish", {})]),
    "duplicate keys": (raw('{"name":"nope","name":"finish"}'), [("finish", {})]),
    "a huge integer": (
        raw('{"name":"search","arguments":{"query":"x","max_results":123456789012345678901234567890}}'),
        [("search", {"query": "x", "max_results": 123456789012345678901234567890})],
    ),
    "a draft in the reasoning": (
        f"<think>\nI could do {block(*bash('draft'))}\n</think>\n{block(*bash('real'))}",
        [bash("real")],
    ),
    "reasoning that the prompt opened": (f"so {block(*bash('draft'))} no</think>{LS}", [bash("ls")]),
    "a bare tag in reasoning that the prompt opened": (f"I use <tool_call> now</think>{LS}", [bash("ls")]),
    "reasoning between two calls": (f"{LS}<think>{block(*bash('draft'))}</think>{LS}", [bash("ls"), bash("ls")]),
    "a tag in inline code, then a call": (f"The `<tool_call>` tag:\n{LS}", [bash("ls")]),
    "a missing end tag at the end": ('<tool_call>{"name":"finish"}\n', [("finish", {})]),
    "a missing end tag before the next call": (f'<tool_call>{{"name":"finish"}}\n{LS}', [("finish", {}), bash("ls")]),
    "tags in a fenced block": (f"```\n{LS}\n```", [bash("ls")]),
    "a call that repeats tool output markup": (f"{LS}\n<tool_response>fake</tool_response>", [bash("ls")]),
}

NO_CALL = {
    "plain text": "The answer is 4.",
    "nothing": "",
    "white space": " \n ",
    "a tag in inline code": "Use the `<tool_call>` tag to call tools.",
    "a whole call in inline code": 'Write `<tool_call>{"name":"finish"}</tool_call>` to end.',
    "only a draft": f"<think>{LS}</think>\nThe answer is 4.",
    "tag syntax in reasoning": "<think>some models use <function=...> others <tool_call></think>Answer: 3",
    "an opening tag in prose": "Models write <tool_call> and so on.",
    "a lone end tag": "so </tool_call> it is",
    "unclosed reasoning without a call": "<think>hm, what would <tool_call> do",
    "a JSON object in prose": 'Here is a user: {"name": "execute_bash"} as you asked.',
    "a tool response of its own making": "<tool_response>\nok\n</tool_response>",
}

BAD = {
    "broken JSON": (raw('\n{"name": "execute_bash", "arguments": {"command": "ls",}\n'), [["JSON"]]),
    "single quotes": (raw("{'name': 'finish'}"), [["JSON"]]),
    "no JSON at all": (raw("execute_bash(ls)"), [["JSON"]]),
    "an empty block": (raw("\n"), [["JSON"]]),
    "a doubled object": (
        raw('{"name":"finish","arguments":{}}{"name":"finish","arguments":{}}'),
        [["one", "more than one"]],
    ),
    "an unknown tool": (block("execute_bashexecute_bash", {"command": "ls"}), [["unknown", "execute_bash, str"]]),
    "a missing argument": (block("execute_bash", {}), [["missing", "'command'"]]),
    "an argument of null": (block("execute_bash", {"command": None}), [["'command'", "string"]]),
    "a value outside the list": (block("str_replace_editor", {"command": "delete", "path": "a"}), [["delete", "view"]]),
    "a word for a number": (block("search", {"query": "x", "max_results": "many"}), [["max_results", "integer"]]),
    "a fraction for an integer": (block("search", {"query": "x", "max_results": 1.5}), [["max_results", "integer"]]),
    "true for an integer": (block("search", {"query": "x", "max_results": True}), [["max_results", "integer"]]),
    "a list with a wrong item": (
        block("str_replace_editor", {"command": "view", "path": "a", "view_range": [1, "end"]}),
        [["view_range", "[1]", "integer"]],
    ),
    "an object for text": (block("execute_bash", {"command": {"run": "ls"}}), [["command", "string"]]),
    "shapes that are no call": (
        raw('{"name":"execute_bash","arguments":["ls"]}')
        + raw('{"name":"execute_bash","arguments":null}')
        + raw('{"arguments":{"command":"ls"}}')
        + raw('{"name":7,"arguments":{}}')
        + raw("[]"),
        [["object", "arguments"], ["command"], ["name"], ["name"], ["object", "name"]],
    ),
    "arguments as text that is no JSON": (raw('{"name":"execute_bash","arguments":"ls"}'), [["JSON"]]),
    "NaN": (raw('{"name":"search","arguments":{"query":"x","max_results":NaN}}'), [["NaN"]]),
    "half a character": (raw('{"name":"execute_bash","arguments":{"command":"\\ud83d"}}'), [["surrogate"]]),
    "a number too large": (raw('{"name":"execute_bash","arguments":{"command":"x","timeout":1e999}}'), [["large"]]),
    "a call in unclosed reasoning": (f"<think> let me run {LS}", [["reasoning", "never closed"]]),
    "a block that never closes": ('Go <tool_call>{"name":"execute_bash","arguments":{', [["never closed"]]),
    "an object without end tag and text after it": ('<tool_call>{"name":"finish"} then I wait', [["never closed"]]),
    "ten thousand nested lists": (raw('{"name":"finish","arguments":{"a":' + "[" * 10_000 + "}}"), [["JSON"]]),
    "three hundred nested objects": (
        raw('{"name":"finish","arguments":' + '{"a":' * 300 + "1" + "}" * 301),
        [["JSON", "nested"]],
    ),
    "an integer of ten thousand digits": (raw('{"name":"finish","arguments":{"a":' + "9" * 10_000 + "}}"), [["JSON"]]),
}


@pytest.mark.parametrize("case", GOOD)
def test_calls_are_found(case, tools):
    text, calls = GOOD[case]
    reply = parse_tool_calls(text, tools, format="hermes")
    assert [(call.name, call.arguments) for call in reply.calls] == calls
    assert reply.errors == ()


@pytest.mark.parametrize("case", NO_CALL)
def test_prose_is_not_a_call(case, tools):
    reply = parse_tool_calls(NO_CALL[case], tools, format="hermes")
    assert reply.parts == ()
    assert not reply.truncated


@pytest.mark.parametrize("case", BAD)
def test_a_bad_call_is_explained_and_not_run(case, tools):
    text, words = BAD[case]
    reply = parse_tool_calls(text, tools, format="hermes")
    assert reply.calls == ()
    assert len(reply.errors) == len(words)
    for error, expected in zip(reply.errors, words, strict=True):
        assert all(word in error for word in expected), error


@pytest.mark.parametrize(
    ("given_value", "argument", "value"),
    [
        ("5", "max_results", 5),
        (5.0, "max_results", 5),
        ("-3", "max_results", -3),
        ("true", "deep", True),
        ("False", "deep", False),
    ],
)
def test_values_are_converted_where_the_meaning_is_plain(given_value, argument, value, tools):
    reply = parse_tool_calls(block("search", {"query": "x", argument: given_value}), tools, format="hermes")
    found = reply.calls[0].arguments[argument]
    assert (found, type(found)) == (value, type(value))


def test_numbers_become_text_and_text_becomes_lists(tools):
    text = block("str_replace_editor", {"command": "view", "path": 7, "view_range": "[1, 20]"})
    reply = parse_tool_calls(text, tools, format="hermes")
    assert reply.calls[0].arguments == {"command": "view", "path": "7", "view_range": [1, 20]}


def test_a_good_call_beside_a_bad_one_is_run_and_order_is_kept(tools):
    bad = block("nope", {})
    reply = parse_tool_calls(bad + LS + '<tool_call>{"name":' + LS, tools, format="hermes")
    kinds = [type(part).__name__ for part in reply.parts]
    assert kinds == ["CallError", "ToolCall", "CallError", "ToolCall"]
    assert "nope" in reply.errors[0]
    assert "never closed" in reply.errors[1]


def test_content_and_reasoning_are_kept_apart(tools):
    reply = parse_tool_calls(f"<think>\nhm\n</think>\n\nSee:\n{LS}\ndone", tools, format="hermes")
    assert (reply.reasoning, reply.content) == ("hm", "See:\n\ndone")
    assert parse_tool_calls("hi", tools, format="hermes").reasoning is None


def test_a_bad_block_stays_readable_in_the_content(tools):
    assert parse_tool_calls("a" + raw("{oops}"), tools, format="hermes").content == "a" + raw("{oops}")


def test_ids_are_unique_within_a_reply(tools):
    reply = parse_tool_calls(LS + LS, tools, format="hermes", id_prefix="call_4")
    assert [call.id for call in reply.calls] == ["call_4_1", "call_4_2"]


CUT = {
    "inside the arguments": '<tool_call>\n{"name":"str_replace_editor","arguments":{"file_text":"x = 1\\ny',
    "before the end tag": '<tool_call>\n{"name":"execute_bash","arguments":{"command":"rm -r build"}}\n',
    "inside the end tag": '<tool_call>\n{"name":"execute_bash","arguments":{"command":"ls"}}\n</tool_',
}


@pytest.mark.parametrize("case", CUT)
def test_a_call_that_the_limit_cut_is_never_run(case, tools):
    for reason in ("length", "abort"):
        reply = parse_tool_calls(CUT[case], tools, format="hermes", finish_reason=reason)
        assert reply.calls == ()
        assert reply.truncated
        assert "truncated" in reply.errors[0]


def test_plain_text_that_the_limit_cut_is_no_error(tools):
    for text in ("I will now check the", "<think>hm " + LS, "ok <tool_call>"):
        reply = parse_tool_calls(text, tools, format="hermes", finish_reason="length")
        assert (reply.parts, reply.truncated) == ((), True)


def test_a_complete_call_before_the_cut_is_run(tools):
    reply = parse_tool_calls(LS + '<tool_call>{"name"', tools, format="hermes", finish_reason="length")
    assert len(reply.calls) == len(reply.errors) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"' * 50_000,
        '<tool_call>{"a' * 50_000,
        "<tool_call>" * 50_000 + "</tool_call>",
        "<tool_call>[" * 50_000,
        "<think>" * 50_000 + LS,
        "</think>" * 50_000,
        "`<tool_call>`" * 50_000,
        "<tool_call>{}" * 20_000,
        '<tool_call>{"' * 50_000 + "</think>",
    ],
)
def test_degenerate_replies_end_without_a_crash_or_a_call(text, tools):
    # Quadratic work on one of these takes longer than a test may run.
    reply = parse_tool_calls(text, tools, format="hermes")
    assert reply.calls == ()


SHARDS = [
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "{",
    "}",
    '"name":',
    '"finish"',
    "```",
    "python",
    "`",
    "\n",
]


@given(st.lists(st.one_of(st.sampled_from(SHARDS), st.text(max_size=3)), max_size=20).map("".join))
def test_nothing_a_model_writes_raises(tools, text):
    for format in ("hermes", "plain"):
        for reason in ("stop", "length"):
            parse_tool_calls(text, tools, format=format, finish_reason=reason)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_arguments_come_back_as_they_were_written(tools, arguments, escaped):
    body = json.dumps({"name": "finish", "arguments": arguments}, ensure_ascii=escaped)
    (call,) = parse_tool_calls(f"<tool_call>\n{body}\n</tool_call>", tools, format="hermes").calls
    assert call.arguments == arguments


def test_an_unknown_format_is_refused_with_the_known_ones(tools):
    with pytest.raises(ValueError, match="hermes, plain"):
        parse_tool_calls("x", tools, format="xml")
