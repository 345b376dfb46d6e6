"""One registered inference server, as the pool keeps it."""

from dataclasses import dataclass

from raas_sdk.backends.target import BackendTarget

__all__ = ["Backend"]


@dataclass(slots=True)
class Backend:
    """The state of a backend. `wire` None is not probed yet; `live` counts the jobs that hold a lease on it.

    `epoch` is raised when the weights behind the address change, `version` is what they are. `added_at` is on
    the monotonic clock. Only the pool changes these fields.
    """

    id: str
    address: str
    pool: str
    epoch: int
    added_at: float
    wire: str | None = None
    version: int | None = None
    weight: float = 1.0
    live: int = 0
    draining: bool = False
    healthy: bool = True
    fault: str | None = None

    @property
    def usable(self) -> bool:
        """Whether new jobs may be put on it."""
        return self.healthy and not self.draining

    @property
    def busyness(self) -> float:
        """Jobs per unit of speed if it got one more: the least is leased next, so of idle ones the fastest."""
        return (self.live + 1) / self.weight

    @property
    def target(self) -> BackendTarget:
        """Where a call goes now."""
        return BackendTarget(self.address, self.wire, self.epoch, self.version, self.pool, self.id)
