"""One registered inference server, as the pool keeps it."""

from dataclasses import dataclass, field
from enum import StrEnum

from raas_sdk.backends.meter import SpeedMeter
from raas_sdk.backends.target import BackendTarget

__all__ = ["Backend", "Health"]


class Health(StrEnum):
    """Whether a backend samples. One that was down is tried by a single job first: its health routes prove nothing."""

    UP = "up"
    DOWN = "down"
    TRIAL = "trial"


@dataclass(slots=True)
class Backend:
    """The state of a backend. `wire` None is not probed yet; `live` counts the jobs that hold a lease on it.

    `epoch` is raised when the weights behind the address change, `version` is what they are. `weight` is the
    speed it was given, `measured` the one that its replies show. `outages` counts how often in a row it failed
    to sample; `tried_by` is the lease of the job that tries it. `added_at` is on the monotonic clock. Only the
    pool changes these fields.
    """

    id: str
    address: str
    pool: str
    epoch: int
    added_at: float
    wire: str | None = None
    version: int | None = None
    weight: float | None = None
    measured: float | None = None
    live: int = 0
    draining: bool = False
    health: Health = Health.UP
    outages: int = 0
    tried_by: object | None = None
    fault: str | None = None
    meter: SpeedMeter = field(default_factory=SpeedMeter)

    @property
    def healthy(self) -> bool:
        """Whether it samples, as far as anybody knows."""
        return self.health is Health.UP

    @property
    def usable(self) -> bool:
        """Whether another job may be put on it now."""
        is_free = self.health is Health.UP or (self.health is Health.TRIAL and self.tried_by is None)
        return is_free and not self.draining

    @property
    def speed(self) -> float:
        """How fast it is beside others: as given, else as measured, else 1."""
        return self.weight or self.measured or 1.0

    @property
    def busyness(self) -> float:
        """Jobs per unit of speed if it got one more: the least is leased next, so of idle ones the fastest."""
        return (self.live + 1) / self.speed

    @property
    def target(self) -> BackendTarget:
        """Where a call goes now."""
        return BackendTarget(self.address, self.wire, self.epoch, self.version, self.pool, self.id)
