"""How much a rollout may use: turns, tokens, context, seconds, attempts."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

from raas_sdk.errors import BadSampling

__all__ = ["Limits"]

UPSTREAM_NAMES = {"max_iterations": "max_turns"}
NEEDED = ("max_turns", "infra_retries", "collect_seconds")
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one job. Seconds count work only; waiting for a permit or a lease never counts.

    None means no limit; turns, retries and collect_seconds always have one.
    """

    max_turns: int = 50
    max_output_tokens: int | None = None
    max_total_tokens: int | None = None
    max_model_len: int | None = None
    init_seconds: float | None = 300.0
    run_seconds: float | None = 1800.0
    eval_seconds: float | None = 1800.0
    total_seconds: float | None = None
    collect_seconds: float = 60.0
    infra_retries: int = 2

    @classmethod
    def names(cls) -> frozenset[str]:
        """The keys that `overridden` understands, upstream's spelling included."""
        return NAMES

    def to_wire(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return dict(zip(FIELDS, VALUES(self), strict=True))

    def overridden(self, values: Mapping[str, Any]) -> "Limits":
        """Return limits with `values` put in; raise BadSampling for a value out of range."""
        if not values:
            return self
        known = {UPSTREAM_NAMES.get(key, key): value for key, value in values.items() if key in NAMES}
        for key, value in known.items():
            _check(key, value)
        return replace(self, **known)


FIELDS = tuple(item.name for item in fields(Limits))
VALUES = attrgetter(*FIELDS)
NAMES = frozenset(FIELDS) | frozenset(UPSTREAM_NAMES)


def _check(key: str, value: object) -> None:
    if value is None and key not in NEEDED:
        return
    whole = not key.endswith("_seconds")
    kinds = (int,) if whole else (int, float)
    least = 0 if key == "infra_retries" else 1 if whole else 0.001
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= LARGEST:
        kind = "a whole number" if whole else "seconds"
        raise BadSampling(f"{key!r} must be {kind} from {least} to {LARGEST}, got {value!r:.80}")
