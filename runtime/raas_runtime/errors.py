"""What can go wrong with a sandbox.

    SandboxError               infra, retryable
    ├── SandboxUnavailable     this machine cannot run the runtime: install or switch on something
    ├── SandboxStartFailed     it did not come up: a bad preload, a missing file, no memory
    ├── SandboxDied            it was killed or stopped answering; whatever it was doing is lost
    ├── SandboxClosed          used after close
    └── SpecRefused            task: the spec asks for what this runtime cannot give

Callers that cannot import this package classify by the attributes `raas_kind`, `code` and `retryable`.
"""

from typing import ClassVar

__all__ = ["SandboxClosed", "SandboxDied", "SandboxError", "SandboxStartFailed", "SandboxUnavailable", "SpecRefused"]


class SandboxError(Exception):
    """A sandbox failed; `raas_kind`, `code` and `retryable` say whose fault and whether a fresh one may help."""

    raas_kind: ClassVar[str] = "infra"
    code: ClassVar[str] = "sandbox_error"
    retryable: ClassVar[bool] = True


class SandboxUnavailable(SandboxError):
    """The runtime cannot run on this machine; the message says what to install or switch on."""

    code = "sandbox_unavailable"
    retryable = False


class SandboxStartFailed(SandboxError):
    """The sandbox did not get ready; the message ends with what it wrote."""

    code = "sandbox_start_failed"


class SandboxDied(SandboxError):
    """The sandbox is gone or does not answer; its files and state are lost."""

    code = "sandbox_died"


class SandboxClosed(SandboxError):
    """The workspace was used after `close()`."""

    code = "sandbox_closed"
    retryable = False


class SpecRefused(SandboxError):
    """The spec asks for something this runtime cannot give, or names something that does not exist."""

    raas_kind = "task"
    code = "sandbox_spec_refused"
    retryable = False
