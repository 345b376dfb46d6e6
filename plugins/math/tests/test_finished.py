"""An answer that only repeats the question's arithmetic."""

import pytest
from raas_math import grade


@pytest.mark.parametrize(
    "echo", ["23+48", "70+1", "142 \\cdot \\frac12", "\\sqrt{5041}", "71^1", "71+0", "x=23+48", "\\binom{71}{1}"]
)
def test_arithmetic_that_was_not_carried_out_is_no_number_where_one_is_demanded(echo):
    assert grade(rf"\boxed{{{echo}}}", "71").correct
    verdict = grade(rf"\boxed{{{echo}}}", "71", finished=True)
    assert (verdict.correct, verdict.reason) == (False, "unfinished")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("71", "71"),
        ("71.0", "71"),
        ("x = 71", "71"),
        ("\\frac{142}{2}", "71"),
        ("-71", "-71"),
        ("7.1 \\times 10^1", "71"),
        ("5 million", "5000000"),
        ("10^3", "1000"),
        ("3\\frac12", "3.5"),
        ("50\\%", "0.5"),
        ("71 \\text{ cm}", "71"),
        ("2 - 3e^{-1}", "2 - \\frac{3}{e}"),
        ("\\sqrt{2}+1", "1+\\sqrt{2}"),
    ],
)
def test_every_way_to_write_a_number_and_every_formula_for_a_formula_stays_right(answer, gold):
    assert grade(rf"\boxed{{{answer}}}", gold, finished=True).correct
