"""For authors of plugins: `check_plugin`, and fakes of all that a plugin meets.

Everything is imported when it is first asked for, so that one fake does not bring along the others' needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raas_sdk.testing.conformance import CheckReport, Finding, assert_plugin_ok, check_plugin, check_plugin_async
    from raas_sdk.testing.fake_backend import FakeBackend
    from raas_sdk.testing.fake_runtime import FakeRuntime
    from raas_sdk.testing.fake_workspace import Answer, FakeExec, FakeWorkspace, RanCall
    from raas_sdk.testing.faults import Fault, FaultKind, Faults
    from raas_sdk.testing.scripted_policy import Reply, ScriptedConversation, ScriptedPolicy, ScriptedReply

__all__ = [
    "Answer",
    "CheckReport",
    "FakeBackend",
    "FakeExec",
    "FakeRuntime",
    "FakeWorkspace",
    "Fault",
    "FaultKind",
    "Faults",
    "Finding",
    "RanCall",
    "Reply",
    "ScriptedConversation",
    "ScriptedPolicy",
    "ScriptedReply",
    "assert_plugin_ok",
    "check_plugin",
    "check_plugin_async",
]

_HOMES = {
    "conformance": ("CheckReport", "Finding", "assert_plugin_ok", "check_plugin", "check_plugin_async"),
    "fake_backend": ("FakeBackend",),
    "fake_runtime": ("FakeRuntime",),
    "fake_workspace": ("Answer", "FakeExec", "FakeWorkspace", "RanCall"),
    "faults": ("Fault", "FaultKind", "Faults"),
    "scripted_policy": ("Reply", "ScriptedConversation", "ScriptedPolicy", "ScriptedReply"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"raas_sdk.testing.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
