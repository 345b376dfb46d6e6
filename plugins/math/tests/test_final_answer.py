"""Which words of a text are its answer: boxes, thoughts, final lines."""

from __future__ import annotations

import pytest
from raas_math import grade


def answer_of(text: str, extraction: str = "boxed") -> str | None:
    return grade(text, "1", extraction=extraction).extracted  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{2}", "2"),
        ("\\boxed{2}. So \\boxed{3}.", "3"),
        ("\\boxed{2} and \\boxed{3}", "2, 3"),
        ("x = \\boxed{2} or x = \\boxed{3}.", "2, 3"),
        ("$\\boxed{2}$, $\\boxed{3}$, and $\\boxed{5}$", "2, 3, 5"),
        ("\\boxed{2} and \\boxed{2}", "2"),
        ("\\boxed{\\boxed{2}}", "\\boxed{2}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{\\frac{1}{\\sqrt{2}}} done }", "\\frac{1}{\\sqrt{2}}"),
        ("\\boxed {2}", "2"),
        ("\\boxed 25", "25"),
        ("\\boxed\\frac{1}{2}", "\\frac{1}{2}"),
        ("\\fbox{2}", "2"),
        ("\\boxed{2}, as asked in \\boxed{}.", "2"),
        ("put it in \\boxed format: \\boxed{2}", "2"),
        ("\\boxed{2} no, \\boxed{3", None),
        ("\\boxed{2} no, \\boxed(3)", None),
        ("\\boxed{}", None),
        ("the answer is 2", None),
        ("", None),
    ],
)
def test_the_last_box_is_the_answer_and_its_neighbours_belong_to_it(text: str, answer: str | None) -> None:
    assert answer_of(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\\boxed{1}</think>\\boxed{2}", "2"),
        ("\\boxed{1}</think>\\boxed{2}", "2"),
        ("<think>a</think>\\boxed{1}<think>b</think>\\boxed{2}", "2"),
        ("\\boxed{2}<think>\\boxed{1}", "2"),
        ("<thinking>\\boxed{1}</thinking>\\boxed{2}", "2"),
        ("<think>\\boxed{1}", None),
        ("<think>\\boxed{1}</think> so one", None),
    ],
)
def test_a_thought_is_not_looked_at(text: str, answer: str | None) -> None:
    assert answer_of(text) == answer
    assert answer_of(text, "any") == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("so\n#### 1,234", "1,234"),
        ("Final Answer: **58**", "58"),
        ("**Final Answer**\n\n$58$", "$58$"),
        ("Therefore, the final answer is $\\frac12$.", "$\\frac12$."),
        ("The answer is 5. I hope it is correct.", "5."),
        ("42", "42"),
        ("The answer is 5.\nWait, I have to check that", None),
        ("First we find 12 apples, and then", None),
        ("150 + 210 = 360", None),
        ("I do not know the answer", None),
        ("Please put the answer in a box.\n\\boxed{3", None),
    ],
)
def test_a_clear_final_line_is_an_answer_only_when_any_is_asked_for(text: str, answer: str | None) -> None:
    assert answer_of(text, "any") == answer
    assert answer_of(text) is None
