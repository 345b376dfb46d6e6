"""What a bubblewrap sandbox sees of files, as options in the order that bubblewrap applies them.

Read-only: the host's /usr or a rootfs, the few files of /etc that programs need, the interpreter, this package, the
spec's binds. Writable: /workspace, /tmp and /dev/shm, each a tmpfs of a given size. The rest is locked at the end.
"""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from raas_runtime.errors import SpecRefused
from raas_runtime.sandbox.handed import Handed
from raas_runtime.sandbox.identity import Identity
from raas_runtime.sandbox.interpreter import Interpreter, library_folder
from raas_runtime.sandbox.spec import Bind, SandboxSpec

__all__ = ["LIBRARY", "PRIVATE", "SCRATCH", "WORKSPACE", "tree_options"]

WORKSPACE, SCRATCH, SHARED_MEMORY = "/workspace", "/tmp", "/dev/shm"
LIBRARY, PRIVATE = "/run/raas/library", "/run/raas/host"
OWN = frozenset({"proc", "dev", "sys", "run", "tmp", "workspace"})
LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "ssl/certs", "ssl/openssl.cnf", "ca-certificates",
    "pki/tls/certs", "localtime", "mime.types", "protocols", "services",
)  # fmt: skip
SHARED_MEMORY_BYTES = 64 << 20


def tree_options(
    spec: SandboxSpec, python: Interpreter, *, folder: Path, identity: Identity, handed: Handed
) -> Iterator[str]:
    """The options that make the tree; SpecRefused where a path of the spec does not exist."""
    yield from rootfs(spec.rootfs) if spec.rootfs is not None else host_system(spec, identity=identity, handed=handed)
    yield from ("--proc", "/proc", "--dev", "/dev")
    sizes = {WORKSPACE: spec.limits.disk_bytes, SCRATCH: spec.limits.disk_bytes, SHARED_MEMORY: SHARED_MEMORY_BYTES}
    for target, size in sizes.items():
        yield from ("--perms", "1777", "--size", str(size), "--tmpfs", target)
    for path in python.folders:
        if not covered(path, spec):
            yield from (*folders_to(path), "--ro-bind", path, path)
    library = f"{LIBRARY}/raas_runtime"
    yield from (*folders_to(library), "--ro-bind", str(library_folder()), library, "--ro-bind", str(folder), PRIVATE)
    for bind in spec.binds:
        yield from folders_to(bind.target)
        yield from bound(bind)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORKSPACE)


def host_system(spec: SandboxSpec, *, identity: Identity, handed: Handed) -> Iterator[str]:
    """The host's programs and libraries, and an /etc that tells nothing about the host."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in LINKED:
        yield from same_entry(Path("/", name), f"/{name}")
    network = ("resolv.conf",) if spec.network else ()
    for name in (*ETC, *network):
        yield from (*folders_to(f"/etc/{name}"), "--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name, text in own_etc(identity).items():
        yield from ("--perms", "0644", "--ro-bind-data", handed.data(text.encode()), f"/etc/{name}")


def folders_to(target: str) -> Iterator[str]:
    """The folders above a target, which bubblewrap would close to all users but its own."""
    for folder in reversed(PurePosixPath(target).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(folder))


def own_etc(identity: Identity) -> dict[str, str]:
    """The files of /etc that are made up."""
    user, nobody = identity.user, 65534
    return {
        "passwd": f"root:x:0:0::/:/bin/sh\nsandbox:x:{user}:{user}::{WORKSPACE}:/bin/bash\n"
        f"nobody:x:{nobody}:{nobody}::/:/bin/sh\n",
        "group": f"root:x:0:\nsandbox:x:{user}:\nnogroup:x:{nobody}:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }


def rootfs(root: str) -> Iterator[str]:
    """Every entry of a root tree but those that are the sandbox's own."""
    if not os.path.isdir(root):
        raise SpecRefused(f"spec.rootfs {root!r} is no directory; give the path of an unpacked root tree")
    for name in sorted(set(os.listdir(root)) - OWN):
        yield from same_entry(Path(root, name), f"/{name}")


def same_entry(source: Path, target: str) -> tuple[str, ...]:
    """A link as a link, anything else read-only; nothing where it does not exist."""
    if source.is_symlink():
        return ("--symlink", os.readlink(source), target)
    return ("--ro-bind", str(source), target) if source.exists() else ()


def covered(path: str, spec: SandboxSpec) -> bool:
    """Whether an interpreter's folder is there already."""
    return spec.rootfs is None and PurePosixPath(path).is_relative_to("/usr")


def bound(bind: Bind) -> tuple[str, str, str]:
    """One bind of the spec."""
    if not os.path.exists(bind.source):
        raise SpecRefused(f"spec.binds: {bind.source!r} does not exist on this host (for {bind.target!r})")
    return ("--ro-bind" if bind.read_only else "--bind", bind.source, bind.target)
