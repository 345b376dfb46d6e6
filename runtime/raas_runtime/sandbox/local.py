"""The runtime without isolation: a process group, a private folder, and nothing left behind."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import ClassVar

from raas_runtime.errors import SandboxError, SpecRefused
from raas_runtime.sandbox.environment import clean_environment, rlimits
from raas_runtime.sandbox.interpreter import Interpreter, library_folder
from raas_runtime.sandbox.opening import Launch, open_sandbox
from raas_runtime.sandbox.probe import Probe
from raas_runtime.sandbox.spec import SandboxSpec
from raas_runtime.sandbox.workspace import SandboxWorkspace

__all__ = ["Local"]

WARNING = "works, but isolates nothing: for tests and trusted code only"
BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from raas_runtime.wire.guard import main
main(sys.argv[1], sys.argv[2])
"""


class Local:
    """Runs tools as plain processes of this user, who may do all that the user may. For tests and trusted code."""

    name: ClassVar[str] = "local"
    level: ClassVar[str] = "none"

    async def probe(self) -> Probe:
        """Whether a workspace opens and runs a command here."""
        try:
            async with self.open_workspace(SandboxSpec(), tools=()) as workspace:
                await workspace.exec(["true"], timeout=10)
        except (SandboxError, OSError) as error:
            return Probe(available=False, reason=f"local does not work here: {error}", level=self.level)
        return Probe(available=True, reason=WARNING, level=self.level)

    def open_workspace(
        self, spec: SandboxSpec, *, tools: Sequence[str]
    ) -> AbstractAsyncContextManager[SandboxWorkspace]:
        """A workspace in a private folder of the host. SpecRefused: it has no rootfs, image or binds."""
        return open_sandbox(self, spec, tools=tools)

    async def launch(self, spec: SandboxSpec, *, folder: Path, opened: ExitStack) -> Launch:
        """The guard process, in a folder made for it."""
        for name in ("rootfs", "image", "binds"):
            if getattr(spec, name):
                asked = getattr(spec, name)
                raise SpecRefused(
                    f"local runs on the host's own files and cannot give {name} {asked!r}; use bubblewrap"
                )
        workspace, library, scratch = (folder / name for name in ("workspace", "library", "tmp"))
        for made in (workspace, library, scratch):
            made.mkdir()
        (library / "raas_runtime").symlink_to(library_folder())
        python = await Interpreter.at(spec.python) if spec.python else Interpreter.this()
        return Launch(
            argv=(python.executable, "-I", "-X", "utf8", "-c", BOOT, str(library), str(folder)),
            level=self.level,
            rlimits=rlimits(spec.limits),
            environment={**clean_environment(python, home=str(workspace), scratch=str(scratch)), **spec.environment},
            folder=str(workspace),
            keeps_folder=True,
        )
