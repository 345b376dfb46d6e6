"""The replies of a fake backend: what a script says, where a reply ends, and its seeded logprobs."""

import itertools
import random
import zlib
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Script", "ended", "replies", "seeded_logprobs", "spoiled"]

Script = Sequence[str] | Sequence[Sequence[int]] | Callable[[tuple[int, ...]], Sequence[int]]
"""Replies in turn (ids, or texts for `encode`), or a function from the prompt's ids to the reply's."""

SPOILED = {"nan_logprobs": float("nan"), "infinite_logprobs": float("-inf"), "positive_logprobs": 0.3}


def replies(
    script: Script, encode: Callable[[str], Sequence[int]] | None, rng: random.Random | None
) -> Callable[[tuple[int, ...]], Sequence[int]]:
    """The script as a function; `rng` draws from it, without one the replies come in turn, over and over."""
    if callable(script):
        return script
    if not script:
        raise ValueError("the script of a FakeBackend is empty; give at least one reply")
    ready = [_reply_ids(reply, encode) for reply in script]
    in_turn = itertools.cycle(ready)
    return lambda _prompt: rng.choice(ready) if rng else next(in_turn)


def ended(ids: tuple[int, ...], stops: frozenset[int], max_tokens: int) -> tuple[tuple[int, ...], str]:
    """The reply up to its first stop id or to max_tokens, and its finish reason."""
    end = next((place for place, token in enumerate(ids) if token in stops), len(ids) - 1)
    ids = ids[: end + 1]
    return (ids[:max_tokens], "length") if len(ids) > max_tokens else (ids, "stop")


def seeded_logprobs(seed: int, prompt: tuple[int, ...], ids: tuple[int, ...]) -> tuple[float, ...]:
    """Logprobs that depend on nothing else, exact as float32."""
    rng = random.Random(zlib.crc32(repr((seed, prompt, ids)).encode()))
    return tuple(-rng.randint(1, 4096) / 1024 for _ in ids)


def spoiled(logprobs: tuple[float, ...], kind: str | None) -> "list[Any] | None":
    """What is sent for these logprobs under a fault of this kind."""
    if kind == "no_logprobs":
        return None
    if kind == "gap":
        return [None if place == len(logprobs) // 2 else value for place, value in enumerate(logprobs)]
    if kind == "short_logprobs":
        return list(logprobs[:-1])
    return [SPOILED[kind], *logprobs[1:]] if kind in SPOILED else list(logprobs)


def _reply_ids(reply: str | Sequence[int], encode: Callable[[str], Sequence[int]] | None) -> tuple[int, ...]:
    if not isinstance(reply, str):
        return tuple(reply)
    if encode is None:
        raise ValueError(f"the script holds text ({reply!r:.80}); give encode= to turn it into token ids")
    return tuple(encode(reply))
