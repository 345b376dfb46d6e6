"""Doubt: the grader cannot decide, so the answer earns nothing."""

from __future__ import annotations

__all__ = ["Doubt"]


class Doubt(Exception):
    """Stop grading this pair; `reason` is one short word that ends up in `Grade.reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
