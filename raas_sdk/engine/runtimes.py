"""Choosing the kind of sandbox: from the entry points `raas.runtimes`, by really trying it."""

import asyncio
from importlib.metadata import entry_points
from typing import cast

from raas_sdk.errors import WorkspaceFault
from raas_sdk.workspace import Runtime

__all__ = ["RuntimeChooser", "installed_runtimes"]

GROUP = "raas.runtimes"
PREFERRED = ("bubblewrap",)
UNSAFE = ("local",)


def installed_runtimes() -> dict[str, Runtime]:
    """All installed runtimes by name."""
    return {point.name: cast(Runtime, point.load()()) for point in entry_points(group=GROUP)}


class RuntimeChooser:
    """Probes once, at first need, and remembers the choice. `auto` takes the first isolating one that works."""

    def __init__(self, wanted: str, *, allow_unsafe: bool, runtimes: dict[str, Runtime] | None = None) -> None:
        self._wanted = wanted
        self._allow_unsafe = allow_unsafe
        self._runtimes = runtimes
        self._lock = asyncio.Lock()
        self._chosen: Runtime | None = None

    async def choose(self) -> Runtime:
        """Return the runtime to use; raise WorkspaceFault that says what to install or to allow."""
        async with self._lock:
            if self._chosen is None:
                if self._runtimes is None:
                    self._runtimes = await asyncio.to_thread(installed_runtimes)
                self._chosen = await self._probe(self._runtimes)
            return self._chosen

    async def _probe(self, runtimes: dict[str, Runtime]) -> Runtime:
        names = [*PREFERRED, *UNSAFE] if self._wanted == "auto" else [self._wanted]
        reasons = []
        for name in names:
            if name not in runtimes:
                reasons.append(f"{name}: not installed (pip install raas-runtime)")
            elif name in UNSAFE and not self._allow_unsafe:
                reasons.append(f"{name}: isolates nothing; allow it with --allow-unsafe-runtime")
            else:
                probe = await runtimes[name].probe()
                if probe.available:
                    return runtimes[name]
                reasons.append(f"{name}: {probe.reason}")
        raise WorkspaceFault(f"no usable sandbox runtime ({'; '.join(reasons)})", code="no_runtime", retryable=False)
