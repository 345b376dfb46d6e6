"""The plain style: fenced blocks whose first line names a tool of the job."""

import pytest

from raas_sdk.agent import FINISH, THINK, describe_tools, parse_tool_calls
from raas_sdk.workspace import Tool

CODE = Tool(
    "execute_ipython_cell",
    "Run Python.",
    {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
)
SHELL = Tool(
    "execute_bash",
    "Run a command.",
    {
        "type": "object",
        "properties": {"timeout": {"type": "number"}, "command": {"type": "string"}},
        "required": ["command"],
    },
)
COUNT = Tool("count", "Counts.", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
JOB = (CODE, SHELL, COUNT, THINK, FINISH)

CALLS = {
    "python": ("```python\n12+5\n```", [("execute_ipython_cell", {"code": "12+5"})]),
    "finish": ("```finish\n\\boxed{17}\n```", [("finish", {"message": "\\boxed{17}"})]),
    "the tool's own name": ("```execute_bash\nls\n```", [("execute_bash", {"command": "ls"})]),
    "bash": ("```bash\nls -l\n```", [("execute_bash", {"command": "ls -l"})]),
    "sh": ("```sh\nls\n```", [("execute_bash", {"command": "ls"})]),
    "an alias in capitals": ("```Python\n1\n```", [("execute_ipython_cell", {"code": "1"})]),
    "a space before the name": ("``` python\n1\n```", [("execute_ipython_cell", {"code": "1"})]),
    "words after the name": ("```python title=x\n1\n```", [("execute_ipython_cell", {"code": "1"})]),
    "text around": ("I compute.\n```python\n1\n```\nThen.", [("execute_ipython_cell", {"code": "1"})]),
    "indentation and empty lines are kept": (
        "```python\n\n  if x:\n\n    y\n\n```",
        [("execute_ipython_cell", {"code": "\n  if x:\n\n    y\n"})],
    ),
    "an empty body": ("```finish\n```", [("finish", {"message": ""})]),
    "a JSON object with the right keys": (
        '```execute_bash\n{"command": "ls", "timeout": "5"}\n```',
        [("execute_bash", {"command": "ls", "timeout": 5})],
    ),
    "a JSON object with other keys is the text": (
        '```python\n{"a": 1}\n```',
        [("execute_ipython_cell", {"code": '{"a": 1}'})],
    ),
    "a JSON object for a tool without text": ('```count\n{"n": 3}\n```', [("count", {"n": 3})]),
    "two blocks in order": (
        "```python\n1\n```\n```finish\n1\n```",
        [("execute_ipython_cell", {"code": "1"}), ("finish", {"message": "1"})],
    ),
    "an open block at the end": ("So:\n```finish\n17", [("finish", {"message": "17"})]),
    "code inside the final message": (
        "```finish\nHere:\n```python\nprint(1)\n```\n```",
        [("finish", {"message": "Here:\n```python\nprint(1)\n```"})],
    ),
    "a block that the next one ends": (
        "```python\n1+1\n```finish\n2\n```",
        [("execute_ipython_cell", {"code": "1+1"}), ("finish", {"message": "2"})],
    ),
    "longer fences hold shorter ones": (
        "````finish\n```\nraw\n```\n````",
        [("finish", {"message": "```\nraw\n```"})],
    ),
    "a draft in the reasoning": (
        "<think>\n```python\ndraft\n```\n</think>\n```python\nreal\n```",
        [("execute_ipython_cell", {"code": "real"})],
    ),
    "think tags inside a block": (
        "```python\nprint('<think></think>')\n```",
        [("execute_ipython_cell", {"code": "print('<think></think>')"})],
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_fences_that_name_a_tool_are_calls(case):
    text, calls = CALLS[case]
    reply = parse_tool_calls(text, JOB, format="plain")
    assert [(call.name, call.arguments) for call in reply.calls] == calls
    assert reply.errors == ()


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 17.",
        "```\n12+5\n```",
        "```json\n{}\n```",
        "```text\nfinish\n```",
        "Use ```python 1+1``` in a line.",
        "`finish` it",
        "````markdown\n```python\n1\n```\n````",
        "<think>```python\n1\n```</think> four",
        "<think> unclosed, no call",
        "",
    ],
)
def test_other_text_is_content(text):
    assert parse_tool_calls(text, JOB, format="plain").parts == ()


def test_an_alias_of_a_tool_that_the_job_lacks_is_content():
    assert parse_tool_calls("```python\n1\n```", (FINISH,), format="plain").parts == ()


def test_a_tool_called_python_beats_the_alias():
    python = Tool("python", "", CODE.parameters)
    (call,) = parse_tool_calls("```python\n1\n```", (CODE, python), format="plain").calls
    assert call.name == "python"


def test_content_keeps_the_whole_reply_without_its_reasoning():
    reply = parse_tool_calls("<think>hm</think>\nSo:\n```python\n1\n```", JOB, format="plain")
    assert (reply.reasoning, reply.content) == ("hm", "So:\n```python\n1\n```")


def test_a_block_that_the_limit_cut_is_not_run():
    reply = parse_tool_calls("```python\n1\n```\n```bash\nrm -r", JOB, format="plain", finish_reason="length")
    assert [call.name for call in reply.calls] == ["execute_ipython_cell"]
    assert reply.truncated
    assert "truncated" in reply.errors[0]


def test_a_body_that_fits_no_argument_is_explained():
    (error,) = parse_tool_calls("```count\nthree\n```", JOB, format="plain").errors
    assert "missing required argument 'n'" in error


def test_a_block_in_unclosed_reasoning_is_not_run():
    reply = parse_tool_calls("<think> try\n```python\n1\n```", JOB, format="plain")
    assert reply.calls == ()
    assert "never closed" in reply.errors[0]


def test_the_description_shows_how_to_call_each_tool():
    text = describe_tools(JOB, format="plain")
    assert "```python\n<code>\n```" in text
    assert "```bash\n<command>\n```" in text
    assert "```finish\n<message>\n```" in text
    assert "To give timeout as well" in text
    for tool in JOB:
        assert f"{tool.name}: {tool.description}" in text


def test_the_description_for_hermes_holds_the_schemas():
    text = describe_tools(JOB, format="hermes")
    assert '"name": "execute_bash"' in text
    assert "<tool_call>" in text
    with pytest.raises(ValueError, match="hermes, plain"):
        describe_tools(JOB, format="xml")
