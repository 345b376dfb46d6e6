"""Calls into foreign synchronous code: whatever it raises arrives as an ordinary exception."""

from types import TracebackType

from raas_sdk.errors import PluginFault

__all__ = ["contained"]


class contained:
    """Turn SystemExit, KeyboardInterrupt, CancelledError and their like, raised inside, into a PluginFault.

    Only for code that does not await: there a CancelledError is the plugin's own, never a cancel of the job.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            raise PluginFault(f"{self._what} raised {type(error).__name__}", code="raised_exit") from error
