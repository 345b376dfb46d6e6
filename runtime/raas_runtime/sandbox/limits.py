"""How much a sandbox may use."""

from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Limits"]

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Ceilings for one sandbox.

    memory_bytes: what one process may allocate, and what all of them together may keep resident.
    processes: processes and threads in the sandbox. file_bytes: one file. disk_bytes: each of /workspace and /tmp.
    open_files: descriptors of one process. output_chars: text of one observation; more is left out from the middle.
    `local` enforces memory_bytes, file_bytes, open_files and output_chars only.
    """

    memory_bytes: int = 4096 * MIB
    processes: int = 256
    file_bytes: int = 256 * MIB
    disk_bytes: int = 512 * MIB
    open_files: int = 1024
    output_chars: int = 30_000

    @classmethod
    def of(cls, limits: Any) -> "Limits":
        """A copy of anything with these attributes; None means the default."""
        given = {field.name: getattr(limits, field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value is not None})
