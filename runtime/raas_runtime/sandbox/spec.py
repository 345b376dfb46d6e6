"""What a caller asks of a sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from raas_runtime.sandbox.limits import Limits

__all__ = ["Bind", "SandboxSpec"]


@dataclass(frozen=True, slots=True)
class Bind:
    """A host path shown in the sandbox at `target`."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What the sandbox is made of.

    rootfs: a directory to use as the root tree, or None for the host's /usr. image: for runtimes that run images.
    python: the interpreter of the tools, or None for this one; it and its packages are bound read-only at the same
    paths (inside a rootfs: a path in that tree). It needs Python 3.11 and ipython. preload: modules the IPython zygote
    imports before any kernel starts. environment is added to a small clean one. network: share the host's network.

    Runtimes read these attributes only, so any object that has them will do.
    """

    rootfs: str | None = None
    image: str | None = None
    binds: tuple[Bind, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    preload: tuple[str, ...] = ()
    network: bool = False
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(cls, spec: Any) -> "SandboxSpec":
        """A copy of anything with these attributes; a limit of None means the default."""
        given = {item.name: getattr(spec, item.name) for item in fields(cls)}
        return cls(**{**given, "limits": Limits.of(spec.limits)})
