"""Math tasks: the problem an instance states, and the grade of a model's answer to it."""

from __future__ import annotations

from raas_math.grading import BadGold, Grade, grade
from raas_math.problem import BadInstance, Problem

__all__ = ["BadGold", "BadInstance", "Grade", "Problem", "grade"]
