"""The page on porting: its example runs, and its tables name what there is."""

import inspect
import re

import pytest

from raas_sdk import TaskHandler
from raas_sdk.debug import debug_instance
from raas_sdk.gateway import admit
from raas_sdk.limits import Limits
from raas_sdk.sampling import IGNORED, Sampling
from raas_sdk.server.wire_bodies import result_body
from raas_sdk.settings import load_settings

SUM = {"data_source": "sums", "instance_id": "answer", "numbers": [20, 22]}
UPSTREAM_BODY = [
    "instance_id",
    "trajectory_id",
    "git_patch",
    "success",
    "error",
    "finish",
    "messages",
    "tools",
    "end_properly",
    "resolved",
    "critical_error",
    "filter",
    "timing",
    "traceback",
]
CALL = '<tool_call>{"name": "execute_ipython_cell", "arguments": {"code": "sum([20, 22])"}}</tool_call>'


@pytest.fixture(scope="module")
def port(page):
    return page("how-to/port-an-agent-handler.md")


@pytest.fixture
def rollout(port, tmp_path):
    """Plays replies to the handler that the page shows."""
    (example,) = port.blocks("python")
    (tmp_path / "sums.py").write_text(example)
    flags = {"plugin": (f"{tmp_path}/sums.py:SumHandler",), "entry_points": False, "allow_unsafe_runtime": True}
    settings = load_settings(flags, environ={}, folder=tmp_path)

    async def play(instance, *replies):
        return await debug_instance(settings, {"instance": instance}, script=replies)

    return play


def finish(answer):
    return f'<tool_call>{{"name": "finish", "arguments": {{"message": "{answer}"}}}}</tool_call>'


def section(port, title):
    """The first column of a section's table: all names in it."""
    text = port.text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)", cell)}


async def test_the_example_grades_what_its_tool_computed(rollout):
    result = await rollout(SUM, CALL, finish("42"))
    assert (result.outcome, result.reward, result.resolved) == ("scored", 1.0, True), result.failure
    assert [message["content"].strip() for message in result.trajectory.messages if message["role"] == "tool"] == ["42"]
    assert result.extra["count"] == 2


@pytest.mark.parametrize(("answer", "reward"), [("41", 0.5), ("about forty", 0.0)])
async def test_the_example_gives_parts_and_a_fair_zero(rollout, answer, reward):
    result = await rollout(SUM, finish(answer))
    assert (result.outcome, result.reward, result.resolved) == ("scored", reward, False)


async def test_the_example_refuses_a_malformed_instance(rollout):
    result = await rollout({**SUM, "numbers": []}, finish("0"))
    assert (result.outcome, result.reward, result.failure.code) == ("task_error", None, "bad_instance")


async def test_the_table_of_the_result_names_its_keys(rollout, port, tmp_path):
    job = admit({"instance": SUM}, load_settings({}, environ={}, folder=tmp_path)).job
    body = result_body(job, await rollout(SUM, finish("42")))
    named = section(port, "The result")
    assert set(UPSTREAM_BODY) <= named
    assert named - {"git_patch"} <= set(body)


def test_the_table_of_sampling_names_every_key(port):
    known = set(inspect.signature(Sampling).parameters) - {"notes"} | Limits.names() | set(IGNORED)
    assert section(port, "sampling_params") == known


def test_the_table_of_methods_has_the_signatures_of_the_class(port):
    rows = re.findall(r"^\| `\w+\(.*?\)` \| `(\w+)\((.*?)\)` \|", port.text, re.MULTILINE)
    shown = {name: ["self", *arguments.split(", ")] for name, arguments in rows}
    assert len(shown) == 7
    assert shown == {name: list(inspect.signature(getattr(TaskHandler, name)).parameters) for name in shown}
