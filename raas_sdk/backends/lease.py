"""A job's hold on one backend, for its whole rollout."""

from collections.abc import Callable

from raas_sdk.backends.backend import Backend
from raas_sdk.backends.target import BackendTarget

__all__ = ["Lease"]


class Lease:
    """Counts as one live job on its backend until it is released."""

    __slots__ = ("_backend", "_on_release", "job_id")

    def __init__(self, job_id: str, backend: Backend, *, on_release: "Callable[[Lease], None]") -> None:
        self.job_id = job_id
        self._backend = backend
        self._on_release: Callable[[Lease], None] | None = on_release

    @property
    def backend_id(self) -> str:
        """The id of the backend it is on."""
        return self._backend.id

    @property
    def target(self) -> BackendTarget:
        """Where the job's next turn goes; changes when its address is added again with new weights."""
        return self._backend.target

    @property
    def released(self) -> bool:
        """Whether it was given back."""
        return self._on_release is None

    def release(self) -> None:
        """Give it back; calling it again does nothing."""
        on_release, self._on_release = self._on_release, None
        if on_release is not None:
            on_release(self)
