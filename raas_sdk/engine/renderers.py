"""The engine's renderer: loaded once per process, off the event loop, never at job time from a hub."""

import asyncio

from raas_sdk.errors import SettingsInvalid
from raas_sdk.job import Job
from raas_sdk.tokens import Renderer, load_renderer

__all__ = ["RendererShelf"]


class RendererShelf:
    """One tokenizer source, one renderer per thinking mode."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self._lock = asyncio.Lock()
        self._loaded: dict[bool | None, Renderer] = {}

    async def for_job(self, job: Job) -> Renderer:
        """Return the renderer for a job; raise SettingsInvalid if no tokenizer is set."""
        if self._source is None:
            raise SettingsInvalid("no tokenizer: start with --tokenizer DIRECTORY (tokenizer.json) or FILE.gguf")
        thinking = job.sampling.enable_thinking
        if thinking in self._loaded:
            return self._loaded[thinking]
        async with self._lock:
            if None not in self._loaded:
                self._loaded[None] = await asyncio.to_thread(load_renderer, self._source)
            if thinking not in self._loaded:
                self._loaded[thinking] = self._loaded[None].with_thinking(enabled=thinking)
            return self._loaded[thinking]

    async def preload(self) -> None:
        """Load now what will be needed, if a source is set; raise SettingsInvalid if it can't be used."""
        if self._source is not None:
            async with self._lock:
                self._loaded[None] = await asyncio.to_thread(load_renderer, self._source)
