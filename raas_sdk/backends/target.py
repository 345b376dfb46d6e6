"""Where a call goes: an address in one epoch, as it travels between gateway and engine."""

from dataclasses import dataclass

__all__ = ["BackendTarget"]


@dataclass(frozen=True, slots=True)
class BackendTarget:
    """An inference server at a moment. `wire` None is detected at first use; `version` is the policy's there.

    (address, epoch) is unique: when the weights behind an address change, its epoch does too.
    """

    address: str
    wire: str | None = None
    epoch: int = 0
    version: int | None = None
    pool: str = "default"
    backend_id: str | None = None
