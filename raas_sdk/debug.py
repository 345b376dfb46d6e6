"""One instance in this process, through the same gateway and engine as the server's."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from raas_sdk.engine.host import KeepSandbox
from raas_sdk.errors import SettingsInvalid
from raas_sdk.gateway import Observer, admit, open_service
from raas_sdk.gateway.local_model import with_model
from raas_sdk.result import Result
from raas_sdk.settings import Settings

__all__ = ["debug_instance"]


async def debug_instance(
    settings: Settings,
    body: Mapping[str, Any],
    *,
    observer: Observer | None = None,
    embedded: bool = False,
    script: Sequence[str] | None = None,
    keep: KeepSandbox | None = None,
) -> Result:
    """Run one rollout (`body` as of POST /process) and return its result.

    Samples from `settings.backend`, the embedded model, or a `script` of reply texts that a real server on
    loopback plays back as token ids: then the rollout ends with model_limit when the script does. `observer`
    hears stages and turns, `keep` is awaited before a sandbox closes. Raise BadRequest or SettingsInvalid.
    """
    async with with_model(settings, embedded=embedded) as ready, _scripted(ready, script) as chosen:
        request = dict(body) if script is None else _one_pass(body, len(script))
        submission = admit(request, chosen)
        async with open_service(chosen, keep=keep, coded=True) as gateway:
            gateway.observer = observer or Observer()
            return await gateway.submit(submission).done


@asynccontextmanager
async def _scripted(settings: Settings, script: Sequence[str] | None) -> AsyncIterator[Settings]:
    if script is None:
        yield settings
        return
    if not script:
        raise SettingsInvalid("the script holds no replies; give a JSON list of texts")
    from raas_sdk.testing.fake_backend import FakeBackend
    from raas_sdk.tokens import load_renderer

    tokenizer = settings.tokenizer or "test:chatml"
    renderer = load_renderer(tokenizer)
    end = renderer.stop_token_ids[:1]
    replies = [[*renderer.encode(text), *end] for text in script]
    async with FakeBackend("vllm", script=replies) as backend:
        yield settings.model_copy(update={"tokenizer": tokenizer, "backend": (backend.address,)})


def _one_pass(body: Mapping[str, Any], replies: int) -> dict[str, Any]:
    """The body with as many turns as there are replies, and no second attempt: it would be played the rest."""
    given = {**(body.get("sampling_params") or {}), **(body.get("limits") or {})}
    asked = given.get("max_turns", given.get("max_iterations", replies))
    turns = min(asked, replies) if isinstance(asked, int) else asked
    return {**body, "limits": {**(body.get("limits") or {}), "max_turns": turns, "infra_retries": 0}}
