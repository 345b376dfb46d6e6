"""Who watches jobs live, in this process: the debugger. Does nothing by default."""

from raas_sdk.engine.messages import StageChanged, TurnFinished
from raas_sdk.result import Result

__all__ = ["Observer"]


class Observer:
    """Override what you want to hear; called on the event loop, so it must be quick."""

    def stage(self, message: StageChanged) -> None:
        """A job waits for, holds or has left a stage."""

    def turn(self, message: TurnFinished) -> None:
        """A turn was sampled."""

    def finished(self, result: Result) -> None:
        """A job has its result."""
