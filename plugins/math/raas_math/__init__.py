"""Math tasks: the problem an instance states, and the grade of a model's answer to it."""

from __future__ import annotations

from raas_math.grading import BadGold, Grade, grade

__all__ = ["BadGold", "Grade", "grade"]
