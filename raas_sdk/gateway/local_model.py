"""Settings completed with the embedded model, which serves for the time inside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from raas_sdk.settings import Settings

__all__ = ["with_model"]


@asynccontextmanager
async def with_model(settings: Settings, *, embedded: bool) -> AsyncIterator[Settings]:
    """Start the embedded model where it is wanted; its tokenizer and address are put into the settings."""
    if not embedded:
        yield settings
        return
    from raas_sdk.backends.embedded import embedded_model

    async with embedded_model() as model:
        tokenizer = settings.tokenizer or str(model.tokenizer)
        backends = (*settings.backend, model.address)
        yield settings.model_copy(update={"tokenizer": tokenizer, "backend": backends})
