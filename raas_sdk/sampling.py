"""How the policy is sampled: the parameters that reach the backend, and those that were ignored."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from raas_sdk.errors import BadSampling

__all__ = ["Sampling"]

IGNORED = {
    "api_key": "backends are registered without a key",
    "completion_kwargs": "sampling is by token ids",
    "custom_tokenizer": "the tokenizer is a setting of the service",
    "enable_a11y_tree": "no computer-use domain is installed",
    "enable_vision": "text only",
    "ensure_thinking_end_properly": "an open thinking block is reported by the parser",
    "log_completions": "every turn is in the trajectory",
    "model": "the registered backends decide the model",
    "modify_params": "parameters are never modified",
    "native_tool_calling": "tool calls are parsed from sampled text",
    "num_retries": "retries are bounded by the job's budget",
    "retry_max_wait": "retries are bounded by the job's budget",
    "retry_min_wait": "retries are bounded by the job's budget",
    "retry_multiplier": "retries are bounded by the job's budget",
    "strict_loop_detector": "the loop detector is always on",
    "timeout": "budgets per stage are limits of the job",
    "token_level_generation": "rollouts are always by token ids",
}
PARAMETERS = ("temperature", "top_p", "top_k", "min_p", "seed", "enable_thinking")
RANGES = {
    "temperature": (0.0, 100.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of the distribution. `top_k` < 1 means no cut; `notes` says what was ignored and why."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    seed: int | None = None
    enable_thinking: bool | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, params: Mapping[str, Any], *, also_known: frozenset[str] = frozenset()) -> "Sampling":
        """Read sampling_params; raise BadSampling for an unknown key or a value out of range."""
        if not params:
            return DEFAULT
        unknown = sorted(set(params) - set(PARAMETERS) - set(IGNORED) - also_known)
        if unknown:
            known = ", ".join(sorted((*PARAMETERS, *also_known)))
            raise BadSampling(f"unknown sampling parameter {unknown[0]!r}; known: {known}")
        values = {key: _checked(key, params[key]) for key in PARAMETERS if params.get(key) is not None}
        notes = tuple(f"{key} ignored: {IGNORED[key]}" for key in sorted(params) if key in IGNORED)
        return cls(**values, notes=notes)

    def seeded(self, seed: int) -> "Sampling":
        """The same with a seed."""
        kept = (self.temperature, self.top_p, self.top_k, self.min_p)
        return Sampling(*kept, seed, self.enable_thinking, self.notes)

    def to_wire(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return dict(zip(FIELDS, VALUES(self), strict=True))

    def turn_seed(self, *, sample_index: int, attempt: int, turn: int) -> int:
        """The seed of one call, 31 bits: samples, attempts and turns with one `seed` still differ."""
        text = f"{self.seed}/{sample_index}/{attempt}/{turn}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") & 0x7FFFFFFF


FIELDS = tuple(item.name for item in fields(Sampling))
VALUES = attrgetter(*FIELDS)
DEFAULT = Sampling()


def _checked(key: str, value: Any) -> Any:
    if key == "enable_thinking":
        return _of_kind(key, value, bool)
    if key in ("seed", "top_k"):
        return _in_int64(key, _of_kind(key, value, int))
    number = float(_of_kind(key, value, int | float))
    low, high = RANGES[key]
    if not math.isfinite(number) or not low <= number <= high:
        raise BadSampling(f"{key!r} must lie in [{low:g}, {high:g}], got {value!r}")
    return number


def _in_int64(key: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise BadSampling(f"{key!r} must fit 64 bits, got {value!r:.80}")
    return value


def _of_kind(key: str, value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise BadSampling(f"{key!r} has the wrong type: {value!r:.80}")
    return value
