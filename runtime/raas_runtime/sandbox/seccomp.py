"""The system-call filter of a sandbox, as the classic-BPF program that bubblewrap reads from a descriptor.

Refused: what looks into other processes, makes namespaces or mounts, loads code into the kernel, or opens a door
that no namespace closes (vsock, the kernel's crypto sockets, typing into a terminal). x86_64 only.
"""

import errno
import platform
import struct
from collections.abc import Mapping

__all__ = ["seccomp_program"]

AUDIT_ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000
LOAD, JUMP_EQUAL, JUMP_NOT_LESS, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER_AT, ARCH_AT, ARGUMENTS_AT = 0, 4, 16

DENIED: Mapping[str, int] = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440, "kcmp": 312,
    "pidfd_getfd": 438, "vmsplice": 278, "move_pages": 279, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "keyctl": 250, "add_key": 248,
    "request_key": 249, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300,
    "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "quotactl_fd": 443, "syslog": 103,
    "iopl": 172, "ioperm": 173, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "uselib": 134,
    "vhangup": 153, "lookup_dcookie": 212,
}  # fmt: skip
CLONE, CLONE3, IOCTL, SOCKET = 56, 435, 16, 41
NEW_NAMESPACES = 0x7E020000
TERMINAL_INPUT = (0x5412, 0x541C)
UNCONFINED_FAMILIES = (38, 40)

Program = list[bytes]


def seccomp_program() -> bytes | None:
    """The filter; None where this machine's processor has none."""
    if platform.machine() != "x86_64":
        return None
    refuse = REFUSE | errno.EPERM
    program = [load(ARCH_AT), *unless_equal(AUDIT_ARCH_X86_64, refuse), load(NUMBER_AT)]
    program += [jump(JUMP_NOT_LESS, X32_BIT, skip_if_not=1), give(refuse)]
    for number in DENIED.values():
        program += if_equal(number, [give(refuse)])
    # glibc falls back to clone, whose flags can be seen here; clone3 hides them behind a pointer.
    program += if_equal(CLONE3, [give(REFUSE | errno.ENOSYS)])
    program += if_equal(
        CLONE, [load(argument(0)), jump(JUMP_ANY_BIT, NEW_NAMESPACES, skip_if_not=1), give(refuse), give(ALLOW)]
    )
    program += if_equal(IOCTL, refuse_values(argument(1), TERMINAL_INPUT, refuse=refuse))
    program += if_equal(SOCKET, refuse_values(argument(0), UNCONFINED_FAMILIES, refuse=refuse))
    return b"".join([*program, give(ALLOW)])


def load(offset: int) -> bytes:
    """Read a word of the call's description."""
    return struct.pack("<HBBI", LOAD, 0, 0, offset)


def jump(kind: int, value: int, *, skip_if_not: int) -> bytes:
    """Go on where the test holds, else skip some instructions."""
    return struct.pack("<HBBI", kind, 0, skip_if_not, value)


def give(result: int) -> bytes:
    """End with a result."""
    return struct.pack("<HBBI", RETURN, 0, 0, result)


def if_equal(value: int, then: Program) -> Program:
    """`then` where the loaded word is `value`; it must end the program."""
    return [jump(JUMP_EQUAL, value, skip_if_not=len(then)), *then]


def unless_equal(value: int, result: int) -> Program:
    """End with `result` where the loaded word is not `value`."""
    return [struct.pack("<HBBI", JUMP_EQUAL, 1, 0, value), give(result)]


def refuse_values(offset: int, values: tuple[int, ...], *, refuse: int) -> Program:
    """Refuse the call for these values of an argument, allow it for others."""
    program: Program = [load(offset)]
    for value in values:
        program += if_equal(value, [give(refuse)])
    return [*program, give(ALLOW)]


def argument(index: int) -> int:
    """Where the low word of an argument is."""
    return ARGUMENTS_AT + 8 * index
