"""What a runtime says about this machine."""

from dataclasses import dataclass

__all__ = ["Probe"]


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a runtime works here. `reason` says what to install or switch on; `level` what it isolates."""

    available: bool
    reason: str
    level: str
