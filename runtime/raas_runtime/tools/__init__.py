"""The tools that live inside a sandbox, by the key a caller asks for."""

from raas_runtime.tools.ipython import IPython
from raas_runtime.tools.session import ToolSession, ToolSetting

__all__ = ["KNOWN_TOOLS", "ToolSession", "ToolSetting", "tool_session"]

KNOWN_TOOLS: tuple[str, ...] = ("ipython",)


def tool_session(key: str, setting: ToolSetting) -> ToolSession:
    """A session of the tool `key`, not started."""
    if key == "ipython":
        return IPython(setting)
    raise ValueError(f"no tool {key!r}; known: {', '.join(KNOWN_TOOLS)}")
