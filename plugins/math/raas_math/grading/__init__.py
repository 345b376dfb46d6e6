"""Grading of math answers: from a model's text to a verdict. The door is `grade`."""

from __future__ import annotations

from raas_math.grading.gold import BadGold
from raas_math.grading.grade import Grade, grade

__all__ = ["BadGold", "Grade", "grade"]
