import asyncio
import json

import pytest

from raas_sdk.agent import FINISH, NUDGE, THINK, converse
from raas_sdk.errors import LimitReached, WorkspaceFault
from raas_sdk.limits import Limits
from raas_sdk.policy import Policy
from raas_sdk.testing.fake_workspace import FakeWorkspace
from raas_sdk.testing.scripted_policy import ScriptedPolicy, ScriptedReply
from raas_sdk.workspace import EmptyWorkspace, Observation, Tool, Workspace

ASK = [{"role": "user", "content": "Compute 12 + 5."}]
CODE = Tool(
    "execute_ipython_cell",
    "Run Python.",
    {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
)


def python(code):
    return f"```python\n{code}\n```"


def finish(message):
    return f"```finish\n{message}\n```"


def kernel(answer="17"):
    return FakeWorkspace([CODE], {CODE.name: answer})


def call(name, **arguments):
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def test_the_fakes_fit_the_protocols():
    policy: Policy = ScriptedPolicy([])
    workspace: Workspace = FakeWorkspace()
    assert isinstance(workspace, Workspace)
    assert policy.limits == Limits()


async def test_a_call_is_run_its_result_is_shown_and_finish_ends_the_task():
    policy, workspace = ScriptedPolicy([python("12+5"), finish("\\boxed{17}")]), kernel()
    done = await converse(policy, workspace, ASK, tool_timeout_seconds=7.0)
    assert (done.stop_reason, done.finish_message, done.tool_calls) == ("finished", "\\boxed{17}", 2)
    assert [(ran.name, ran.arguments, ran.timeout) for ran in workspace.calls] == [(CODE.name, {"code": "12+5"}, 7.0)]
    roles = [message["role"] for message in done.messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert done.messages[1]["tool_calls"] == [{"id": "call_0_1", "name": CODE.name, "arguments": {"code": "12+5"}}]
    assert done.messages[2] == {
        "role": "tool",
        "name": CODE.name,
        "tool_call_id": "call_0_1",
        "content": "17",
    }
    assert policy.conversations[0].tools == (CODE, THINK, FINISH)


async def test_several_calls_of_a_reply_run_in_order_and_none_after_finish():
    text = (
        call(CODE.name, code="1")
        + call("think", thought="hm")
        + call("finish", message="2")
        + call(CODE.name, code="3")
    )
    workspace = kernel("ok")
    done = await converse(ScriptedPolicy([text], tool_format="hermes"), workspace, ASK)
    assert [ran.arguments["code"] for ran in workspace.calls] == ["1"]
    assert done.finish_message == "2"
    results = [message["content"] for message in done.messages if message["role"] == "tool"]
    assert results[0] == "ok"
    assert "noted" in results[1]
    assert "not run" in results[2]
    assert len(results) == done.tool_calls == 3


async def test_bad_calls_are_shown_to_the_policy_in_their_place():
    text = call("nope") + call(CODE.name, code="1") + call(CODE.name)
    policy = ScriptedPolicy([text, call("finish", message="x")], tool_format="hermes")
    done = await converse(policy, kernel("ok"), ASK)
    results = [message["content"] for message in done.messages if message["role"] == "tool"]
    assert "unknown tool 'nope'" in results[0]
    assert results[1] == "ok"
    assert "missing required argument 'code'" in results[2]
    assert done.tool_calls == 2


async def test_a_failing_tool_is_an_observation():
    failing = kernel(Observation("NameError: x", error=True))
    done = await converse(ScriptedPolicy([python("x"), finish("gave up")]), failing, ASK)
    assert done.messages[2]["content"] == "NameError: x"
    assert done.stop_reason == "finished"


async def test_a_broken_sandbox_is_raised_and_never_shown():
    broken = kernel(WorkspaceFault("the sandbox died"))
    policy = ScriptedPolicy([python("1"), finish("x")])
    with pytest.raises(WorkspaceFault, match="sandbox died"):
        await converse(policy, broken, ASK)
    assert policy.turns == 1


async def test_a_cancel_stays_a_cancel():
    class Slow(FakeWorkspace):
        async def call(self, name, arguments, *, timeout):
            started.set()
            await asyncio.Event().wait()

    started = asyncio.Event()
    task = asyncio.create_task(converse(ScriptedPolicy([python("1")]), Slow([CODE]), ASK))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_limit_ends_the_conversation_normally():
    policy = ScriptedPolicy([python(n) for n in range(9)], limits=Limits(max_turns=2))
    done = await converse(policy, kernel(), ASK)
    assert (done.stop_reason, done.tool_calls, done.finish_message) == ("limit_turns", 2, None)


async def test_a_limit_that_interrupts_a_tool_ends_it_too():
    done = await converse(ScriptedPolicy([python("1")]), kernel(LimitReached("time")), ASK)
    assert done.stop_reason == "limit_time"


async def test_replies_without_a_call_are_nudged_a_bounded_number_of_times():
    policy = ScriptedPolicy(["I think it is 16.", "No, 17.", "Done."])
    done = await converse(policy, kernel(), ASK)
    assert (done.stop_reason, done.last_text) == ("no_tool_call", "Done.")
    nudges = [message for message in done.messages if message["content"] == NUDGE]
    assert [message["role"] for message in nudges] == ["user", "user"]


async def test_a_call_starts_the_count_of_idle_replies_anew():
    policy = ScriptedPolicy(["a", "b", python("1"), "c", "d", finish("17")])
    done = await converse(policy, kernel(), ASK, nudge="Go on.")
    assert done.stop_reason == "finished"
    assert sum(message["content"] == "Go on." for message in done.messages) == 4


async def test_empty_replies_are_bounded():
    done = await converse(ScriptedPolicy(["", "", ""]), kernel(), ASK, max_repeats=3)
    assert (done.stop_reason, done.last_text) == ("no_tool_call", "")


async def test_a_reply_that_the_limit_cut_ends_with_length():
    for text in ("I will now check the", "```python\nprint(", "<think>hm"):
        done = await converse(ScriptedPolicy([ScriptedReply(text, "length")]), kernel(), ASK)
        assert done.stop_reason == "length"
        assert done.tool_calls == 0


async def test_complete_calls_before_the_cut_are_run_and_the_cut_one_is_explained():
    cut = ScriptedReply(python("1") + "\n```python\n2", "length")
    done = await converse(ScriptedPolicy([cut, finish("17")]), kernel(), ASK)
    assert done.stop_reason == "finished"
    results = [message["content"] for message in done.messages if message["role"] == "tool"]
    assert results[0] == "17"
    assert "truncated" in results[1]


LOOPS = {
    "four equal actions with equal results": [python("1")] * 4,
    "two actions in turn": [python("1"), python("2")] * 3,
    "three equal messages": ["It is 17."] * 3,
    "three equal bad calls": ["```count\n```"] * 3,
}


@pytest.mark.parametrize("case", LOOPS)
async def test_a_policy_that_goes_in_circles_is_stopped(case):
    count = Tool("count", "", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    script = LOOPS[case]
    policy = ScriptedPolicy([*script, "not reached"])
    done = await converse(policy, kernel(), ASK, (CODE, count, FINISH), max_repeats=9)
    assert done.stop_reason == "loop_detected"
    assert policy.turns == len(script)


async def test_three_equal_actions_that_fail_are_a_loop_whatever_the_error_says():
    answers = iter(["a", "b", "c"])
    failing = kernel(lambda arguments: Observation(next(answers), error=True))
    done = await converse(ScriptedPolicy([python("x")] * 5), failing, ASK)
    assert (done.stop_reason, done.tool_calls) == ("loop_detected", 3)


async def test_polling_with_changing_results_is_no_loop():
    answers = iter(range(99))
    workspace = kernel(lambda arguments: str(next(answers)))
    done = await converse(ScriptedPolicy([*[python("x")] * 8, finish("ok")]), workspace, ASK)
    assert done.stop_reason == "finished"


async def test_reasoning_stays_in_the_readable_message():
    text = "<think>\nadd\n</think>\n\n" + finish("17")
    done = await converse(ScriptedPolicy([text]), kernel(), ASK)
    assert done.messages[1]["content"] == text
    assert done.last_text == finish("17")


async def test_reasoning_that_never_closed_is_not_closed_in_the_readable_message():
    done = await converse(ScriptedPolicy(["So <think>\nhm"]), kernel(), ASK)
    assert done.messages[1]["content"] == "So<think>\nhm"
    assert done.last_text == "So"


async def test_the_hook_hears_of_every_call_that_ran():
    heard = []
    script = [python("1"), "```think\nhm\n```", finish("17")]
    await converse(
        ScriptedPolicy(script), kernel(), ASK, on_tool_call=lambda call, seen: heard.append((call.name, seen.text))
    )
    assert [name for name, _ in heard] == [CODE.name, "think", "finish"]
    assert heard[0][1] == "17"


async def test_a_task_without_tools_still_has_think_and_finish():
    done = await converse(ScriptedPolicy([finish("17")]), EmptyWorkspace(), ASK)
    assert done.finish_message == "17"


async def test_a_finish_without_message_hands_in_an_empty_one():
    bare = Tool("finish", "", {"type": "object", "properties": {}})
    policy = ScriptedPolicy([call("finish")], tool_format="hermes")
    done = await converse(policy, kernel(), ASK, (bare,))
    assert (done.stop_reason, done.finish_message) == ("finished", "")


async def test_a_script_may_look_at_the_messages():
    policy = ScriptedPolicy([python("12+5"), lambda messages: finish(messages[-1]["content"])])
    done = await converse(policy, kernel(), ASK)
    assert done.finish_message == "17"


async def test_a_fake_workspace_keeps_files_and_refuses_what_it_was_not_told():
    workspace = FakeWorkspace(files={"a": b"1"})
    await workspace.write("b", b"2")
    assert [await workspace.read(path) for path in "ab"] == [b"1", b"2"]
    assert (await workspace.call("x", {}, timeout=1)).error
    for asked in (workspace.read("c"), workspace.exec(["ls"], timeout=1)):
        with pytest.raises(WorkspaceFault):
            await asked
    await workspace.close()
    assert workspace.closed
