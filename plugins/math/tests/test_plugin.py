"""The math domain through a whole service: real sandbox, real kernel, real grading process, a scripted backend."""

import json
from contextlib import asynccontextmanager

import pytest
from raas_runtime import Bubblewrap

from raas_sdk.gateway import admit, open_service
from raas_sdk.settings import load_settings
from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens import load_renderer

RENDERER = load_renderer("test:plain")
CALL = "```python\nimport numpy, scipy, sympy\nprint(6 * 7)\n```"


def finish(text):
    return f"```finish\n{text}\n```"


def instance(**changed):
    fields = {
        "data_source": "deepscaler",
        "instance_id": "six-times-seven",
        "prompt": json.dumps([{"role": "user", "content": "What is 6 * 7?"}]),
        "reward_model": {"ground_truth": "42"},
        "extra_info": {"index": 1},
    }
    return {name: value for name, value in {**fields, **changed}.items() if value is not None}


@asynccontextmanager
async def service(*replies, plugin=None, **settings):
    probe = await Bubblewrap().probe()
    runtime = {} if probe.available else {"runtime": "local", "allow_unsafe_runtime": True}
    async with FakeBackend(wire="vllm", script=replies, encode=RENDERER.encode) as backend:
        chosen = {"backend": (backend.address,), "tokenizer": "test:plain", **runtime, **settings}
        read = load_settings({**chosen, "plugins": {"math": {"preload": [], **(plugin or {})}}})
        async with open_service(read, coded=True) as gateway:

            async def rollout(task, **limits):
                submission = admit({"instance": task, "sampling_params": {"max_turns": 4, **limits}}, read)
                return await gateway.submit(submission).done

            yield rollout


def tool_results(result):
    """What tools answered in this rollout; those of the worked examples belong to no call."""
    return [message["content"].strip() for message in result.trajectory.messages if "tool_call_id" in message]


async def test_a_computed_and_finished_answer_scores_full():
    async with service(CALL, finish(r"\boxed{42}")) as rollout:
        result = await rollout(instance())
    assert (result.outcome, result.reward, result.resolved) == ("scored", 1.0, True), result.failure
    assert tool_results(result) == ["42"]
    assert result.reward_detail["answer_from"] == "finish"
    assert result.usage.tool_calls == 1
    assert result.trainable


async def test_a_wrong_answer_scores_a_true_zero():
    async with service(finish(r"\boxed{41}")) as rollout:
        result = await rollout(instance())
    assert (result.outcome, result.reward, result.resolved) == ("scored", 0.0, False)
    assert result.trainable


async def test_an_answer_without_a_box_is_no_answer():
    async with service(finish("42")) as rollout:
        result = await rollout(instance())
    assert (result.reward, result.reward_detail["reason"]) == (0.0, "no_box")


async def test_last_words_count_where_finish_was_never_called():
    async with service(r"It is \boxed{42}.") as rollout:
        result = await rollout(instance(), max_turns=1)
    assert (result.outcome, result.reward) == ("model_limit", 1.0)
    assert result.reward_detail["answer_from"] == "last_message"


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"prompt": None}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": "[{"}, "prompt"),
        ({"reward_model": None}, "reward_model"),
        ({"reward_model": {"ground_truth": None}}, "ground_truth"),
        ({"reward_model": "{not json"}, "reward_model"),
    ],
)
async def test_a_malformed_instance_is_a_task_error_before_a_sandbox_starts(changed, named):
    async with service(finish("x")) as rollout:
        result = await rollout(instance(**changed))
    assert (result.outcome, result.reward, result.failure.code) == ("task_error", None, "bad_instance")
    assert named in result.failure.message
    assert result.failure.stage == "init"
    assert result.sandbox == {}


async def test_a_grader_that_is_cut_off_is_a_failure_and_never_a_zero():
    many = [rf"\sqrt{{{n}}}+{n}" for n in range(2, 500)]  # work enough for a limit to come first
    async with service(finish(r"\boxed{\sqrt{601}+7}"), plugin={"grade_seconds": 1e-6}) as rollout:
        result = await rollout(instance(reward_model={"ground_truth": many}))
    assert (result.outcome, result.reward, result.failure.stage) == ("task_error", None, "eval")
    assert result.failure.code == "grader_timeout"
    assert not result.trainable


async def test_a_killed_kernel_is_told_to_the_policy_and_the_rollout_goes_on():
    kill = "```python\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n```"
    async with service(kill, CALL, finish(r"\boxed{42}")) as rollout:
        result = await rollout(instance())
    assert (result.outcome, result.reward) == ("scored", 1.0)
    assert "restarted" in tool_results(result)[0]
    assert tool_results(result)[1] == "42"


async def test_the_policy_can_work_without_a_sandbox():
    async with service(finish(r"\boxed{42}"), plugin={"sandbox": False}) as rollout:
        result = await rollout(instance(data_source="openai/gsm8k", reward_model=None, answer="6*7=42\n#### 42"))
    assert result.reward == 1.0
    assert result.sandbox["runtime"] == "none"
