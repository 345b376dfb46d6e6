"""Sandboxes for rollouts of LLM agents, and the tools that live inside them.

Installable by itself, also in an image: it imports nothing of the service that uses it. Importing it starts nothing.
"""

from raas_runtime.errors import (
    SandboxClosed,
    SandboxDied,
    SandboxError,
    SandboxStartFailed,
    SandboxUnavailable,
    SpecRefused,
)
from raas_runtime.observation import ExecResult, Observation, Tool
from raas_runtime.sandbox.bubblewrap import Bubblewrap
from raas_runtime.sandbox.limits import Limits
from raas_runtime.sandbox.local import Local
from raas_runtime.sandbox.probe import Probe
from raas_runtime.sandbox.spec import Bind, SandboxSpec
from raas_runtime.sandbox.workspace import SandboxWorkspace

__all__ = [
    "Bind",
    "Bubblewrap",
    "ExecResult",
    "Limits",
    "Local",
    "Observation",
    "Probe",
    "SandboxClosed",
    "SandboxDied",
    "SandboxError",
    "SandboxSpec",
    "SandboxStartFailed",
    "SandboxUnavailable",
    "SandboxWorkspace",
    "SpecRefused",
    "Tool",
]
