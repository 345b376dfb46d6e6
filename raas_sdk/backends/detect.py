"""Which wire a server speaks, found out by GET routes alone."""

from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec

from raas_sdk.backends.exchange import PassingFault, fetch
from raas_sdk.errors import BackendUnreachable

__all__ = ["detect_wire"]

PROBE_SECONDS = 10.0


async def detect_wire(session: aiohttp.ClientSession, address: str) -> str:
    """Return "llamacpp", "vllm", "vllm_completions", or "prorl" for anything else that answers HTTP.

    Raise BackendUnreachable when nothing answers or the server says that it is not ready (5xx).
    """
    if _looks(await _json(session, f"{address}/props"), _is_llamacpp):
        return "llamacpp"
    if _looks(await _json(session, f"{address}/version"), lambda found: isinstance(found.get("version"), str)):
        routes = await _json(session, f"{address}/openapi.json")
        return "vllm" if _looks(routes, _has_generate) else "vllm_completions"
    if _looks(await _json(session, f"{address}/v1/models"), _owned_by_vllm):
        return "vllm_completions"
    return "prorl"


async def _json(session: aiohttp.ClientSession, url: str) -> Any:
    """The JSON behind a URL, None where there is none."""
    try:
        reply = await fetch(session, url)
    except PassingFault as fault:
        raise BackendUnreachable(f"nothing answers at {url!r}: {fault}") from fault
    if reply.status >= 500:
        raise BackendUnreachable(f"{url!r} is not ready: HTTP {reply.status}: {reply.shown!r}")
    if reply.status != 200:
        return None
    try:
        return msgspec.json.decode(reply.body)
    except msgspec.DecodeError:
        return None


def _looks(found: Any, fits: Callable[[dict[str, Any]], bool]) -> bool:
    return isinstance(found, dict) and fits(found)


def _is_llamacpp(props: dict[str, Any]) -> bool:
    return "default_generation_settings" in props or "total_slots" in props


def _has_generate(routes: dict[str, Any]) -> bool:
    paths = routes.get("paths")
    return isinstance(paths, dict) and "/inference/v1/generate" in paths


def _owned_by_vllm(models: dict[str, Any]) -> bool:
    rows = models.get("data")
    return isinstance(rows, list) and any(isinstance(row, dict) and row.get("owned_by") == "vllm" for row in rows)
