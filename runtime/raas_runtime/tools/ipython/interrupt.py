"""SIGINT in a kernel."""

import signal
from types import FrameType

__all__ = ["Interrupt"]


class Interrupt:
    """SIGINT raises KeyboardInterrupt while user code runs; one that comes just before is raised as it starts.

    Made in the zygote, so that a kernel has it from its first moment.
    """

    def __init__(self) -> None:
        self._early = False
        self.disarm()

    def arm(self, *, forget_early: bool) -> None:
        """Let SIGINT raise. `forget_early`: what came so far was meant for the cell before."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        early, self._early = self._early and not forget_early, False
        if early:
            raise KeyboardInterrupt

    def disarm(self) -> None:
        """Only take note of SIGINT; unlike SIG_IGN, children do not inherit this."""
        signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._early = True
