"""One plugin's wish to hear one announcement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pluggy import HookImpl

__all__ = ["Listener"]


@dataclass(frozen=True, slots=True)
class Listener:
    """An implementation of an announcement hook, called by itself so that its faults reach nobody else."""

    implementation: HookImpl

    @property
    def plugin(self) -> str:
        """The plugin's name."""
        return self.implementation.plugin_name

    def hear(self, facts: Mapping[str, Any]) -> None:
        """Call it with the arguments it takes; raises what it raises."""
        self.implementation.function(*[facts[name] for name in self.implementation.argnames])
