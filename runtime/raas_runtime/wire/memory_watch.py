"""The ceiling on what all processes of a sandbox keep in memory together; RLIMIT_AS sees one process at a time."""

import asyncio
import contextlib
import os
import signal

from raas_runtime.wire.family import Family, children

__all__ = ["watch_memory"]

SCAN_SECONDS = 1.0
PAGE_BYTES = os.sysconf("SC_PAGESIZE")


async def watch_memory(family: Family, ceiling_bytes: int) -> None:
    """Kill the biggest process but for those a tool needs, as often as the sum is over the ceiling. Never returns.

    The kernel offers no event for this without cgroups, which an ordinary user has not, so it is looked up.
    """
    while True:
        await asyncio.sleep(SCAN_SECONDS)
        sizes = {pid: private_bytes(pid) for pid in descendants(os.getpid())}
        if sum(sizes.values()) > ceiling_bytes:
            kill_biggest({pid: size for pid, size in sizes.items() if pid not in family.vital_pids()})


def descendants(pid: int) -> list[int]:
    """Children, their children and so on."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def private_bytes(pid: int) -> int:
    """What a process keeps resident apart from files; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
    except OSError:
        return 0
    return (resident - shared) * PAGE_BYTES


def kill_biggest(sizes: dict[int, int]) -> None:
    """SIGKILL the biggest; whoever waits for it learns of its death."""
    if not sizes:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(max(sizes, key=lambda pid: sizes[pid]), signal.SIGKILL)
