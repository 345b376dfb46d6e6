"""Which user the inside of a sandbox runs as."""

import os
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Identity"]

USER_INSIDE = 1000
FIRST_OF_OWN = 0x7000_0000
OWN_BITS = 24
CAPABILITIES = (6, 7, 21)  # CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN
WHOLE_RANGE = ["0", "0", "4294967295"]


@dataclass(frozen=True, slots=True)
class Identity:
    """A user id inside, and whether the action server has to change to it.

    Started by root, a sandbox gets a user id of its own that owns nothing: the kernel never counts root's processes
    against a limit, whatever number a user namespace shows for it. That needs files others may read. In every other
    case it runs as whoever started it, under another number.
    """

    user: int
    change: bool

    @classmethod
    def for_sandbox(cls, readable: Iterable[str], *, writable: Iterable[str]) -> "Identity":
        """The best one for a sandbox that uses these host paths."""
        reachable = all(others_may(path, write=False) for path in readable)
        if full_root() and reachable and all(others_may(path, write=True) for path in writable):
            return cls(FIRST_OF_OWN + secrets.randbits(OWN_BITS), change=True)
        return cls(USER_INSIDE, change=False)


def full_root() -> bool:
    """Whether this process is root with the rights to mount and to become any user."""
    if os.geteuid() != 0 or Path("/proc/self/uid_map").read_text().split() != WHOLE_RANGE:
        return False
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next(int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return all(effective >> bit & 1 for bit in CAPABILITIES)


def others_may(path: str, *, write: bool) -> bool:
    """Whether any user may use a path, once it is bound where they can reach it."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0) | (stat.S_IWOTH if write else 0)
    return mode & wanted == wanted
