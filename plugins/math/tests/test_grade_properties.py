"""Properties: any text gets a grade; a number is right in every spelling, and wrong when it is another number."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from raas_math import BadGold, Grade, grade

PIECE_WORDS = (
    "\\frac{ } { \\sqrt ^ _ ( ) [ ] \\{ \\} , ; . - + * / = < > \\leq \\cup \\in \\infty \\pi x y e i 1 23 0.5 ! % | & "
    "\\\\ \\text{ \\begin{pmatrix} \\end{pmatrix} \\pm \\boxed{ \\cdot \\sin \\log_ f( 10^ \\overline{ : $ and or cm "
    "\\degree 999999 ½ − √ ² \\sum_ \\binom \\lfloor \\rfloor"
)
PIECES = st.sampled_from(PIECE_WORDS.split())
FORMULAS = st.lists(PIECES, max_size=25).map("".join)
TEXTS = st.one_of(FORMULAS, st.text(max_size=60))
LONG = settings(max_examples=150, deadline=None, database=None)
RATIONALS = st.fractions(min_value=-999, max_value=999, max_denominator=60)


@LONG
@given(TEXTS, TEXTS, st.sampled_from(["boxed", "any"]))
def test_any_text_against_any_gold_gets_a_grade_or_a_bad_gold(answer: str, gold: str, extraction: str) -> None:
    for output in (f"\\boxed{{{answer}}}", answer):
        try:
            verdict = grade(output, gold, extraction=extraction)  # type: ignore[arg-type]
        except BadGold:
            continue
        assert isinstance(verdict, Grade)
        assert verdict.reason.replace("_", "").isalpha()


@LONG
@given(FORMULAS)
def test_a_closed_formula_is_never_equal_to_an_unlikely_number(answer: str) -> None:
    assert not grade(f"\\boxed{{{answer}}}", "83217.625").correct


def spellings(value: Fraction) -> list[str]:
    """The same rational number as people and programs write it."""
    sign, top, bottom = "-" if value < 0 else "", abs(value.numerator), value.denominator
    found = [
        f"{sign}\\frac{{{top}}}{{{bottom}}}",
        f"\\dfrac{{{value.numerator}}}{{{bottom}}}",
        f"{value.numerator}/{bottom}",
        f"x = {sign}\\tfrac{{{top}}}{{{bottom}}}",
        f"{sign}\\frac{{{7 * top}}}{{{7 * bottom}}}",
        f"{value.numerator} \\div {bottom}",
        f"{sign}{top} \\cdot {bottom}^{{-1}}",
        f"{float(value):.15g}" if abs(value) >= 1 else f"{float(value)!r}",
        f"$ {sign}{top} / {bottom} \\text{{ cm}}$",
        f"{value.numerator}/{bottom}".translate(str.maketrans("-0123456789", "−０１２３４５６７８９")),
        f"{sign}\\frac{{{100 * top}}}{{{bottom}}}\\%",
    ]
    whole, rest = divmod(top, bottom)
    if whole and rest:
        found += [f"{sign}{whole}\\frac{{{rest}}}{{{bottom}}}", f"{sign}{whole} {rest}/{bottom}"]
    return found


@LONG
@given(RATIONALS, st.data())
def test_a_rational_number_is_right_in_every_spelling(value: Fraction, data: st.DataObject) -> None:
    answer, gold = (data.draw(st.sampled_from(spellings(value))) for _ in range(2))
    if "%" in gold or ("%" in answer and "cm" in gold):
        gold = f"\\frac{{{value.numerator}}}{{{value.denominator}}}"
    assert grade(f"It is \\boxed{{{answer}}}.", gold).correct, (answer, gold)


@LONG
@given(RATIONALS, RATIONALS, st.data())
def test_another_rational_number_is_wrong_in_every_spelling(
    left: Fraction, right: Fraction, data: st.DataObject
) -> None:
    answer = data.draw(st.sampled_from([text for text in spellings(left) if "%" not in text]))
    gold = data.draw(st.sampled_from([text for text in spellings(right) if "%" not in text]))
    different = abs(left - right) > Fraction(1, 100_000) * max(abs(right), 1)
    if different:
        assert not grade(f"It is \\boxed{{{answer}}}.", gold).correct, (answer, gold)


@LONG
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_a_list_has_no_order_and_a_tuple_has_one(values: list[int], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    said, wanted = ", ".join(map(str, shuffled)), ", ".join(map(str, values))
    assert grade(f"\\boxed{{{said}}}", wanted).correct
    assert grade(f"\\boxed{{\\{{{said}\\}}}}", f"\\{{{wanted}\\}}").correct
    assert grade(f"\\boxed{{({said})}}", f"({wanted})").correct is (shuffled == values)
    assert not grade(f"\\boxed{{{said}, 51}}", wanted).correct


@LONG
@given(st.integers(-9, 9), st.integers(1, 9), st.integers(-9, 9), st.integers(1, 9))
def test_a_polynomial_is_right_multiplied_out_and_wrong_with_one_changed_coefficient(
    a: int, b: int, c: int, d: int
) -> None:
    factored = f"({b}x+{a})({d}x+{c})"
    expanded = f"{b * d}x^2+{a * d + b * c}x+{a * c}"
    assert grade(f"\\boxed{{{factored}}}", expanded).correct
    assert not grade(f"\\boxed{{{factored}}}", f"{b * d}x^2+{a * d + b * c}x+{a * c + 1}").correct


@LONG
@given(st.integers(-99, 99), st.integers(1, 99), st.booleans(), st.booleans())
def test_the_ends_of_an_interval_are_in_it_or_not(low: int, width: int, left: bool, right: bool) -> None:
    high = low + width
    gold = f"{'[' if left else '('}{low},{high}{']' if right else ')'}"
    below, above = ("\\le" if closed else "<" for closed in (left, right))
    said = f"{low} {below} x {above} {high}"
    assert grade(f"\\boxed{{{said}}}", gold).correct
    assert not grade(f"\\boxed{{{said}}}", f"{'(' if left else '['}{low},{high}{']' if right else ')'}").correct
