"""The grader's contract: several golds, what is extracted, bad golds and bad arguments."""

from __future__ import annotations

import subprocess
import sys

import pytest
from raas_math import BadGold, grade


def test_any_of_several_golds_is_enough() -> None:
    assert grade("\\boxed{3}", ["2", "3"]).correct
    assert not grade("\\boxed{3}", ["2", "4"]).correct


def test_the_reason_of_the_first_gold_is_given_when_none_matches() -> None:
    assert grade("\\boxed{3}", ["2", "9^{9^{9^9}}"]).reason == "different"


def test_the_answer_that_was_graded_is_returned_as_the_model_wrote_it() -> None:
    assert grade("so \\boxed{ \\dfrac{1}{2} }", "1/2").extracted == "\\dfrac{1}{2}"
    assert grade("no box here", "1/2").extracted is None


def test_a_boxed_gold_is_taken_out_of_its_box() -> None:
    assert grade("\\boxed{7}", "The answer is $\\boxed{7}$").correct


@pytest.mark.parametrize("gold", ["", "  ", "$$", [], ["1", ""], [1], None, 5, "\\text{}", "1" * 30_000])
def test_a_gold_that_is_no_answer_is_a_fault_of_the_data(gold: object) -> None:
    with pytest.raises(BadGold) as raised:
        grade("\\boxed{1}", gold)  # type: ignore[arg-type]
    assert raised.value.raas_kind == "task"


def test_a_bad_gold_is_reported_even_when_the_text_has_no_answer() -> None:
    with pytest.raises(BadGold):
        grade("I do not know", "")


def test_a_choice_gold_without_a_letter_is_a_fault_of_the_data() -> None:
    with pytest.raises(BadGold):
        grade("\\boxed{A}", "12", answer_type="choice")


@pytest.mark.parametrize(
    "options",
    [{"extraction": "last"}, {"answer_type": "number"}, {"rel_tolerance": -1.0}, {"rel_tolerance": float("nan")}],
)
def test_an_unknown_option_is_refused_with_its_value(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=repr(next(iter(options.values())))):
        grade("\\boxed{1}", "1", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "gold", "rel", "correct"),
    [
        ("66.7", "\\frac{200}{3}", 1e-3, True),
        ("66.7", "\\frac{200}{3}", 1e-4, False),
        ("\\frac{200}{3}", "66.7", 1e-6, False),
        ("101", "100", 0.01, True),
        ("102", "100", 0.01, False),
        ("12345678", "12345679", 1e-6, False),
        ("3.1416", "\\pi", 1e-5, True),
        ("3.1416", "\\pi", 1e-6, False),
        ("0.5", "\\frac12", 0.0, True),
        ("0.0001", "0", 0.01, False),
    ],
)
def test_the_tolerance_is_relative_to_the_gold(output: str, gold: str, rel: float, *, correct: bool) -> None:
    assert grade(f"\\boxed{{{output}}}", gold, rel_tolerance=rel).correct is correct


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("twelve", "no_box"),
        ("\\boxed{12", "unfinished_box"),
        ("\\boxed{\\text{}}", "empty_answer"),
        ("\\boxed{13}", "different"),
        ("\\boxed{12}", "identical"),
        ("\\boxed{24/2}", "equal"),
        ("\\boxed{\\foo{12}}", "unreadable"),
        ("\\boxed{12 13}", "ambiguous"),
        ("\\boxed{9^{9^{9^{9}}}}", "too_large"),
    ],
)
def test_the_reason_is_one_word_for_each_way_to_be_right_or_wrong(output: str, reason: str) -> None:
    assert grade(output, "12").reason == reason


def test_importing_the_grader_loads_none_of_the_heavy_libraries() -> None:
    heavy = "{'sympy', 'mpmath', 'math_verify', 'numpy', 'scipy'}"
    program = (
        f"import sys, raas_math; raas_math.grade('\\\\boxed{{1/2}}', '0.5'); print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("output", "gold", "correct"),
    [
        ("\\sum_{k=1}^{10} k", "55", True),
        ("\\sum_{k=1}^{10} k", "54", False),
        ("\\prod_{k=1}^{5} k", "120", True),
        ("\\gcd(12, 18)", "6", True),
        ("\\gcd(12, 18)", "3", False),
        ("\\max(1,2), 5", "2", False),
        ("6", "\\max(1,6)", True),
        ("\\int_0^1 x dx", "\\frac12", False),
    ],
)
def test_sums_products_and_gcds_of_small_numbers_are_left_to_math_verify(
    output: str, gold: str, *, correct: bool
) -> None:
    assert grade(f"\\boxed{{{output}}}", gold).correct is correct
