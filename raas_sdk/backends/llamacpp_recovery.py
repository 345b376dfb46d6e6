"""Asks a llama.cpp server again for the logprobs that its answer left out.

The server reports no probability for a token after which the reply ends inside a UTF-8 character. It does
report the whole distribution for the first token of another call. So the same prefix is sent once more, the
call is made to sample a plain letter (a logit bias does not touch the "raw" logprobs), and the value of the
token that was really sampled is read off that distribution.

A wide distribution is normalised in another order of additions than the single value of an ordinary answer,
which shifts all of it by up to 1e-4. The letter's value, asked for both ways, gives the shift; what remains is
the rounding of float32.
"""

import math
from array import array
from collections.abc import Sequence
from typing import Any

import aiohttp

from raas_sdk.backends.exchange import PassingFault, good_object, post
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.logprobs import checked_ids, checked_value
from raas_sdk.errors import BackendContract, BackendFault, LimitReached

__all__ = ["MOST_RECOVERED", "recover_logprobs"]

MOST_RECOVERED = 256
"""Tokens of one reply that are asked for again; more than that stay NaN."""
WIDTHS = (256, 1_000_000)
"""Candidates asked for: the likely ones first, then the whole vocabulary."""
FORCED = 1000.0
TRIES = 3


async def recover_logprobs(
    session: aiohttp.ClientSession,
    address: str,
    *,
    request: GenerateRequest,
    token_ids: Sequence[int],
    logprobs: "array[float]",
) -> str | None:
    """Fill the NaN of `logprobs` where the server tells the value; return a note on what happened, if anything.

    Goes backwards, so that each call finds all but its last token in the server's prompt cache.
    """
    missing = [place for place, value in enumerate(logprobs) if math.isnan(value)]
    if not missing:
        return None
    count = len(token_ids)
    if len(missing) > MOST_RECOVERED:
        return f"no certain logprob for {len(missing)} of {count} tokens: too many to ask for again"
    try:
        letter = await _plain_letter(session, address)
        for place in reversed(missing):
            before = [*request.prompt_ids, *token_ids[:place]]
            logprobs[place] = await _logprob(session, address, before, token_ids[place], letter=letter)
    except (PassingFault, BackendFault, LimitReached) as fault:
        left = sum(1 for value in logprobs if math.isnan(value))
        return f"no certain logprob for {left} of {count} tokens; asking again failed: {fault}"
    return f"{len(missing)} of {count} logprobs were asked for again (tokens inside a UTF-8 character)"


async def _plain_letter(session: aiohttp.ClientSession, address: str) -> int:
    answer = await _answer(session, f"{address}/tokenize", {"content": "a", "add_special": False})
    letter = checked_ids(answer.get("tokens"), field="tokens")
    if not letter:
        raise BackendContract("the server has no token for the letter 'a'")
    return letter[0]


async def _logprob(
    session: aiohttp.ClientSession, address: str, before: list[int], token: int, *, letter: int
) -> float:
    exact = await _distribution(session, address, before, width=1, letter=letter)
    for width in WIDTHS:
        wide = await _distribution(session, address, before, width=width, letter=letter)
        if token in wide:
            return checked_value(wide[token] - (wide[letter] - exact[letter]), where=f"the logprob of {token}")
    raise BackendContract(f"token {token} is missing in the whole distribution after {len(before)} tokens")


async def _distribution(
    session: aiohttp.ClientSession, address: str, before: list[int], *, width: int, letter: int
) -> dict[int, float]:
    body = {
        "prompt": before,
        "n_predict": 1,
        "temperature": 0.0,
        "samplers": ["temperature"],
        "logit_bias": [[letter, FORCED]],
        "n_probs": width,
        "cache_prompt": True,
        "response_fields": ["completion_probabilities"],
    }
    answer = await _answer(session, f"{address}/completion", body)
    try:
        first = answer["completion_probabilities"][0]
        found = {int(entry["id"]): float(entry["logprob"]) for entry in (*first["top_logprobs"], first)}
    except (TypeError, KeyError, IndexError, ValueError) as error:
        raise BackendContract(f"the distribution after {len(before)} tokens cannot be read: {error!r}") from error
    if letter not in found:
        raise BackendContract(f"token {letter} was forced, but {first['id']!r} was sampled")
    return found


async def _answer(session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Ask at once again when the connection fails: the reply at stake is sampled already."""
    for _ in range(TRIES - 1):
        try:
            return good_object(await post(session, url, body))
        except PassingFault:
            continue
    return good_object(await post(session, url, body))
