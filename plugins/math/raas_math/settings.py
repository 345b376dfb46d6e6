"""What an operator can choose for math tasks: `[plugins.math]` of raas.toml."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["MathSettings"]


class MathSettings(BaseModel):
    """Defaults suit a model with tool training; `finished` as of `raas_math.grade`, seconds and bytes as named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sandbox: bool = True
    preload: tuple[str, ...] = ("numpy", "scipy", "sympy")
    worked_examples: Literal["auto", "always", "never"] = "auto"
    extraction: Literal["boxed", "any"] = "boxed"
    rel_tolerance: float = Field(default=1e-6, ge=0, lt=1)
    finished: bool = True
    tool_seconds: float = Field(default=30.0, gt=0)
    grade_seconds: float = Field(default=20.0, gt=0)
    grade_memory_bytes: int = Field(default=2**31, ge=2**28)
    max_repeats: int = Field(default=3, ge=1)
