"""Gateway and engine put together in one process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from raas_sdk.engine import Engine, RuntimeChooser, direct_channels
from raas_sdk.engine.graders import GraderPool
from raas_sdk.engine.host import KeepSandbox
from raas_sdk.gateway.gateway import Gateway
from raas_sdk.hooks import Plugins, load_plugins
from raas_sdk.settings import Settings

__all__ = ["open_service"]


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    plugins: Plugins | None = None,
    runtimes: RuntimeChooser | None = None,
    graders: GraderPool | None = None,
    keep: KeepSandbox | None = None,
    coded: bool = False,
) -> AsyncIterator[Gateway]:
    """Load plugins, open an engine and a gateway over a direct transport, and close all of it after use.

    `coded` sends every message through msgpack and back, as between processes. A runtime that the settings name is
    tried at once: WorkspaceFault says why it cannot be used.
    """
    chooser = runtimes or RuntimeChooser(settings.runtime, allow_unsafe=settings.allow_unsafe_runtime)
    if settings.runtime != "auto":
        await chooser.choose()
    loaded = load_plugins(settings) if plugins is None else plugins
    gateway_end, engine_end = direct_channels(coded=coded)
    async with (
        Engine.open(loaded, settings, engine_end, keep=keep, runtimes=chooser, graders=graders),
        Gateway.open(loaded, settings, gateway_end) as gateway,
    ):
        await gateway.ready.wait()
        yield gateway
