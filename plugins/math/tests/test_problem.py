"""Instances as trainers send them become problems, and malformed ones say what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from raas_math import BadInstance, Problem

MESSAGES = [{"role": "user", "content": "What is 2 + 2?"}, {"role": "user", "content": "not this"}]


@pytest.mark.parametrize("prompt", [MESSAGES, json.dumps(MESSAGES), "What is 2 + 2?"])
@pytest.mark.parametrize("model", [{"ground_truth": "4", "style": "rule"}, json.dumps({"ground_truth": "4"})])
def test_upstream_instances_are_read_as_objects_and_as_json_text(prompt: Any, model: Any) -> None:
    problem = Problem.from_payload({"prompt": prompt, "reward_model": model, "extra_info": {"index": 3}})
    assert problem == Problem(question="What is 2 + 2?", golds=("4",))


@pytest.mark.parametrize(
    ("truth", "golds"),
    [
        ("\\boxed{4}", ("4",)),
        ("$\\boxed{\\frac{1}{2}}$", ("\\frac{1}{2}",)),
        (4, ("4",)),
        (0.5, ("0.5",)),
        (["4", "\\boxed{5}", 6], ("4", "5", "6")),
        ('["4", "5"]', ("4", "5")),
        ("[2, 5)", ("[2, 5)",)),
        ("[2, 5]", ("[2, 5]",)),
    ],
)
def test_ground_truths_are_values_numbers_or_lists_out_of_their_boxes(truth: Any, golds: tuple[str, ...]) -> None:
    assert Problem.from_payload({"prompt": MESSAGES, "reward_model": {"ground_truth": truth}}).golds == golds


@pytest.mark.parametrize(
    ("payload", "golds"),
    [
        ({"question": "Q?", "answer": "3 * 4 = <<3*4=12>>12\n#### 1,234"}, ("1,234",)),
        ({"problem": "Q?", "answer": "\\frac{1}{2}", "solution": "long"}, ("\\frac{1}{2}",)),
        ({"problem": "Q?", "solution": "so it is $\\boxed{7}$."}, ("7",)),
        ({"question": "Q?", "ground_truth": 7}, ("7",)),
        ({"problem": "Q?", "expected_answer": "7"}, ("7",)),
    ],
)
def test_gsm8k_and_math_fields_are_read_too(payload: dict[str, Any], golds: tuple[str, ...]) -> None:
    assert Problem.from_payload(payload) == Problem(question="Q?", golds=golds)


@pytest.mark.parametrize(
    "request_text",
    [
        " Let's think step by step and output the final answer within \\boxed{}.",
        "\nPlease reason step by step, and put your final answer within \\boxed{}.",
        "\n\nSolve this step by step. Put the final answer inside \\boxed{}.",
        " Present the answer in LaTex format: \\boxed{Your answer}",
        "\nReturn your final response within \\boxed{}. Please provide the answer in \\boxed{}.",
    ],
)
def test_the_request_to_think_and_to_box_is_taken_off(request_text: str) -> None:
    asked = "How many roots has x^2 = 1? Count each once."
    if "response" in request_text:
        request_text = request_text.replace("response", "answer")
    assert Problem.from_payload({"question": asked + request_text, "answer": "2"}).question == asked


@pytest.mark.parametrize(
    "question",
    ["He climbs the stairs step by step. How many?", "A boxed set holds 3 books. How many are in 4?", "2 + 2"],
)
def test_a_question_that_only_sounds_like_it_is_kept(question: str) -> None:
    assert Problem.from_payload({"question": question, "answer": "2"}).question == question


@pytest.mark.parametrize("named", ["choice", "Multiple_Choice", "mcq"])
def test_the_answer_type_comes_from_the_instance_or_its_extra_info(named: str) -> None:
    base = {"question": "Which?", "answer": "B"}
    assert Problem.from_payload({**base, "answer_type": named}).answer_type == "choice"
    assert Problem.from_payload({**base, "extra_info": {"answer_type": named}}).answer_type == "choice"
    assert Problem.from_payload({**base, "extra_info": json.dumps({"answer_type": named})}).answer_type == "choice"
    assert Problem.from_payload({**base, "answer_type": "numerical"}).answer_type is None


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ({}, "'reward_model.ground_truth'"),
        ({"answer": "4"}, "'prompt'"),
        ({"prompt": [], "answer": "4"}, "'prompt'"),
        ({"prompt": [{"role": "user"}], "answer": "4"}, "'prompt'"),
        ({"prompt": ["hello"], "answer": "4"}, "'prompt'"),
        ({"prompt": 3, "answer": "4"}, "'prompt'"),
        ({"question": "  ", "answer": "4"}, "'question'"),
        ({"question": ["x"], "answer": "4"}, "'question'"),
        ({"question": "Q?", "reward_model": {}}, "'ground_truth'"),
        ({"question": "Q?", "reward_model": "{broken"}, "'ground_truth'"),
        ({"question": "Q?", "reward_model": {"ground_truth": []}}, "'reward_model.ground_truth'"),
        ({"question": "Q?", "reward_model": {"ground_truth": {"a": 1}}}, "'reward_model.ground_truth'"),
        ({"question": "Q?", "answer": True}, "'answer'"),
        ({"question": "Q?", "answer": float("nan")}, "'answer'"),
        ({"question": "Q?", "answer": ""}, "reference answer"),
        ({"question": "Q?", "solution": "no box"}, "'solution'"),
    ],
)
def test_a_malformed_instance_names_the_field_and_is_a_task_fault(payload: dict[str, Any], named: str) -> None:
    with pytest.raises(BadInstance, match=named) as raised:
        Problem.from_payload(payload)
    assert (raised.value.raas_kind, raised.value.code, raised.value.retryable) == ("task", "bad_instance", False)
