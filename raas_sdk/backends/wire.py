"""What every wire offers the client: one call, token ids in, token ids and logprobs out."""

from array import array
from typing import Protocol

import aiohttp

from raas_sdk.backends.generation import GenerateRequest, Generation

__all__ = ["Wire", "overrun_note"]


class Wire(Protocol):
    """The protocol of one kind of inference server. A wire does not retry."""

    @property
    def name(self) -> str: ...

    async def generate(self, session: aiohttp.ClientSession, address: str, request: GenerateRequest) -> Generation:
        """Sample once; raise BackendContract, BackendRefused, LimitReached("context") or a PassingFault."""


def overrun_note(token_ids: "array[int]", stop_token_ids: tuple[int, ...]) -> str | None:
    """What to say when the server sampled on past an id that should have ended the reply."""
    stops = frozenset(stop_token_ids)
    past = next((i for i, token in enumerate(token_ids[:-1]) if token in stops), None)
    if past is None:
        return None
    return f"stop id {token_ids[past]} at {past} of {len(token_ids)} did not end the reply; nothing was cut"
