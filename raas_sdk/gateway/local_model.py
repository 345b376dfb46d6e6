"""Settings completed with the embedded model, which serves for the time inside."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from raas_sdk.errors import SettingsInvalid
from raas_sdk.settings import Settings

__all__ = ["with_model"]


@asynccontextmanager
async def with_model(settings: Settings, *, embedded: bool, log: Path | None = None) -> AsyncIterator[Settings]:
    """Start the embedded model where it is wanted; its tokenizer and address are put into the settings.

    `log` gets one JSON line per call as the model got and answered it, ids included.
    """
    if not embedded:
        yield settings
        return
    if settings.tokenizer is not None:
        raise SettingsInvalid(
            f"the embedded model brings its own tokenizer; leave out tokenizer {settings.tokenizer!r}"
        )
    from raas_sdk.backends.embedded import embedded_model
    from raas_sdk.backends.recording_proxy import recording_proxy

    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(embedded_model())
        address = model.address
        if log is not None:
            address = await stack.enter_async_context(recording_proxy(address, log))
        chosen = {"tokenizer": str(model.tokenizer), "backend": (*settings.backend, address)}
        yield settings.model_copy(update=chosen)
