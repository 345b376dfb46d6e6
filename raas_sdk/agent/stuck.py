"""Notices a policy that goes round in circles."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Action", "LoopDetector"]

SAME_PAIRS = 4
SAME_ERRORS = 3
SAME_MESSAGES = 3
ALTERNATING = 6


class Action(NamedTuple):
    """What was tried and what came of it, both as text that can be compared."""

    call: str
    observation: str
    error: bool


@dataclass(slots=True)
class LoopDetector:
    """Looks at the last actions and messages; remembers no more than the longest pattern needs."""

    actions: deque[Action] = field(default_factory=lambda: deque(maxlen=ALTERNATING))
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=SAME_MESSAGES))

    def saw_action(self, action: Action) -> None:
        """Note a call and its observation; they end a row of bare messages."""
        self.actions.append(action)
        self.messages.clear()

    def saw_message(self, text: str) -> None:
        """Note a reply without any call. Empty replies are no pattern; the caller bounds them."""
        if text.strip():
            self.messages.append(text)

    @property
    def looping(self) -> bool:
        """Whether one of the patterns holds: four equal actions with equal observations, three equal actions
        that failed, three equal messages in a row, or A, B, A, B, A, B.
        """
        return self._same_pairs() or self._same_errors() or self._same_messages() or self._alternating()

    def _same_pairs(self) -> bool:
        last = list(self.actions)[-SAME_PAIRS:]
        return len(last) == SAME_PAIRS and len(set(last)) == 1

    def _same_errors(self) -> bool:
        last = list(self.actions)[-SAME_ERRORS:]
        same = len(last) == SAME_ERRORS and len({action.call for action in last}) == 1
        return same and all(action.error for action in last)

    def _same_messages(self) -> bool:
        return len(self.messages) == SAME_MESSAGES and len(set(self.messages)) == 1

    def _alternating(self) -> bool:
        last = list(self.actions)
        return len(last) == ALTERNATING and last[0] != last[1] and last[:2] * 3 == last
