"""Hostile texts: each is graded wrong, in bounded work and within a gigabyte of memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
from concurrent.futures import ProcessPoolExecutor

import pytest
from raas_math import BadGold, Grade, grade

GIGABYTE = 2**30


def box(inside: str) -> str:
    return f"\\boxed{{{inside}}}"


TEXTS = {
    "open braces": "\\boxed" + "{" * 20_000 + "1",
    "unfinished boxes": "\\boxed{" * 100_000 + "1",
    "deep parentheses": box("(" * 5_000 + "1" + ")" * 5_000),
    "deep roots": box("\\sqrt{" * 3_000 + "2" + "}" * 3_000),
    "unfinished roots": "\\boxed{" + "\\sqrt{" * 3_000 + "2",
    "deep fractions": box("\\frac{1}{" * 2_000 + "2" + "}" * 2_000),
    "deep mixed fractions": box("2\\frac{1}{" * 38 + "2" + "}" * 38),
    "deep subscripts": box("a_{" * 4_000 + "}" * 4_000),
    "many terms": box("+".join(["1"] * 9_000)),
    "many powers": box("^".join(["9"] * 5_000)),
    "many functions": box("\\sin " * 1_000 + "1"),
    "many factorials": box("3" + "!" * 15_000),
    "products of factorials": box("\\cdot".join(["5000!"] * 50)),
    "sums of factorials": box("+".join(["5000!"] * 500)),
    "sums of reciprocal factorials": box("+".join(["\\frac{1}{4999!}"] * 300)),
    "high powers of a letter": box("+".join(["x^{999}"] * 900)),
    "many floats": box("*".join(["1e4999"] * 1_000)),
    "a float with a huge exponent": box("1e99999999"),
    "a long list": box(",".join(["1"] * 5_000)),
    "a list of roots": box(",".join(f"\\sqrt{{{number}}}" for number in range(2, 190))),
    "a long word": box("a" * 19_000),
    "many letters": box("a " * 9_000),
    "many text groups": box("\\text{a}" * 2_500),
    "thousands upon thousands": box("1,234" * 3_000),
    "openers without closers": box("\\left(" * 3_000),
    "many bars": box("|" * 3_000),
    "many signs": box("-" * 19_000 + "1"),
    "many plus-minus": box("\\pm" * 5_000 + "1"),
    "many unions": box("\\cup" * 4_000),
    "many intervals": box("\\cup".join(["(1,2)"] * 2_000)),
    "many inequalities": box("x<" * 3_000 + "1"),
    "many solutions": box(" \\text{ or } ".join(["x=1"] * 1_000)),
    "many units": box("5" + " km" * 5_000),
    "many slashes": box("5" + "/s" * 5_000),
    "many backslashes": box("\\" * 19_001),
    "a wide matrix": box("\\begin{pmatrix}" + "1&" * 500 + "1\\end{pmatrix}"),
    "matrices never closed": box("\\begin{pmatrix}" * 900),
    "many choices": box("A, " * 6_000 + "B"),
    "a tower": box("9^{9^{9^{9}}}"),
    "a mixed tower": box("\\dfrac{7^{\\left(7^{\\left(7^{\\left(7^7\\right)}\\right)} - 2\\right)} - 9}{20}"),
    "a tower of letters": box("x^{x^{x^{x^{x}}}}"),
    "a tower of e": box("e^{e^{e^{e^{e}}}}"),
    "a factorial of factorials": box("((100!)!)!"),
    "a factorial of a power": box("(10^{10^{10}})!"),
    "a sine of a huge angle": box("\\sin(10^{10^{9}})"),
    "a logarithm of a tower": box("\\ln(10^{10^{10^{10}}})"),
    "a huge binomial": box("\\binom{10^9}{5\\cdot10^8}"),
    "a tiny power": box("2^{-10^{18}}+1"),
    "a floor of a huge number": box("\\lfloor 10^{300}\\sqrt2 \\rfloor"),
    "division by zero": box("\\frac{0}{0}"),
    "zero to the zero": box("0^0"),
    "logarithm of zero": box("\\ln 0"),
    "a pole": box("\\tan(\\frac{\\pi}{2})"),
    "a high polynomial": box("(x+1)^{100000}"),
    "a long sum": box("\\sum_{k=1}^{999} \\frac{1}{k}"),
    "an endless sum": box("\\sum_{k=1}^{\\infty} \\frac{1}{k^3}"),
    "a sum of powers": box("\\sum_{k=1}^{99} (x+k)^{99}"),
    "nested sums": box("\\sum_{i=1}^{999}\\sum_{j=1}^{999} ij"),
    "a lone surrogate": box("\ud800"),
    "a null character": box("\x00"),
    "combining marks": box("\u0301" * 19_000),
    "five million characters": "thinking about it " * 300_000,
    "many answers": "answer: " * 500_000,
    "many lines": "\n" * 3_000_000,
    "many thoughts": "<think>" * 100_000,
    "code": box("__import__('os').system('touch PWNED')"),
    "code in words": box("\\text{open('PWNED','w')}"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_text_is_wrong_and_a_hostile_gold_harms_nobody(name: str) -> None:
    hostile = TEXTS[name]
    for extraction in ("boxed", "any"):
        assert not grade(hostile, "7", extraction=extraction).correct
    inside = hostile.removeprefix("\\boxed{").removesuffix("}")
    with contextlib.suppress(BadGold):
        assert not grade("\\boxed{7}", inside).correct


@pytest.mark.timeout(120)
def test_all_hostile_texts_together_stay_within_a_gigabyte() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=_limit_memory) as pool:
        verdicts: list[Grade] = list(pool.map(grade, TEXTS.values(), ["7"] * len(TEXTS)))
    assert not any(verdict.correct for verdict in verdicts)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("times", [1, 40])
def test_a_text_that_says_a_huge_number_twice_is_still_right(times: int) -> None:
    tower = " + ".join(["31^{13^{7}}"] * times)
    assert grade(box(tower), tower).correct
    assert not grade(box(tower), f"{tower} + 1").correct


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))
