"""How a job moves through INIT, RUN and EVAL on one event loop."""

from raas_sdk.engine.engine import Engine
from raas_sdk.engine.runtimes import RuntimeChooser, installed_runtimes
from raas_sdk.engine.transport import Channel, direct_channels

__all__ = ["Channel", "Engine", "RuntimeChooser", "direct_channels", "installed_runtimes"]
