"""`raas serve`: gateway, engine and HTTP in one process, until a signal ends it."""

import asyncio
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from socket import socket

import uvicorn

from raas_sdk.errors import SettingsInvalid
from raas_sdk.gateway import Gateway, open_service
from raas_sdk.gateway.local_model import with_model
from raas_sdk.server.app import create_app
from raas_sdk.server.auth import require_token_beyond_loopback
from raas_sdk.server.listening import listen, url_of
from raas_sdk.server.shutdown import stop_on_signals
from raas_sdk.settings import Settings

__all__ = ["serve", "serve_http"]

CLOSE_SECONDS = 8
ANSWER_SECONDS = 3
OPEN_FILES = 65_536


class Server(uvicorn.Server):
    """uvicorn without its own signal handling; tells when it accepts."""

    def __init__(self, config: uvicorn.Config, accepting: Callable[[], None]) -> None:
        super().__init__(config)
        self._accepting = accepting

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Start accepting, then say so."""
        await super().startup(sockets)
        self._accepting()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `stop_on_signals`."""
        yield


def serve(
    settings: Settings,
    *,
    embedded: bool = False,
    embedded_log: Path | None = None,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the URL once connections are accepted.

    `embedded` starts the small embedded model as a backend, whose calls go to `embedded_log` too.

    Raise SettingsInvalid or PluginRefused before anything is started. Live jobs are cancelled and answered on
    the way out; no process is left.
    """
    require_token_beyond_loopback(settings)
    _raise_file_limit()
    try:
        with listen(settings.host, settings.port) as bound:
            model = partial(with_model, embedded=embedded, log=embedded_log)
            asyncio.run(_serve(settings, bound, model=model, announce=announce or _silent))
    finally:
        signal.alarm(0)


async def _serve(
    settings: Settings,
    bound: socket,
    *,
    model: Callable[[Settings], AbstractAsyncContextManager[Settings]],
    announce: Callable[[str], None],
) -> None:
    stopping = asyncio.Event()
    deadline = int(settings.stop_seconds) + CLOSE_SECONDS
    with stop_on_signals(stopping, deadline_seconds=deadline):
        async with model(settings) as ready:
            if ready.tokenizer is None:
                raise SettingsInvalid(
                    "no tokenizer: add --tokenizer DIRECTORY (tokenizer.json) or FILE.gguf, or --embedded"
                )
            await _serve_gateway(ready, bound, stopping=stopping, announce=announce)


async def _serve_gateway(
    settings: Settings, bound: socket, *, stopping: asyncio.Event, announce: Callable[[str], None]
) -> None:
    async with open_service(settings) as gateway:
        await serve_http(gateway, bound, stopping=stopping, announce=announce)


async def serve_http(
    gateway: Gateway, bound: socket, *, stopping: asyncio.Event, announce: Callable[[str], None]
) -> None:
    """Answer on a bound socket until `stopping` is set and every caller has its answer."""
    config = uvicorn.Config(
        create_app(gateway),
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=ANSWER_SECONDS,
    )
    server = Server(config, lambda: announce(url_of(bound)))
    async with asyncio.TaskGroup() as tasks:
        stopper = tasks.create_task(_stop(gateway, server, stopping))
        await server.serve(sockets=[bound])
        stopper.cancel()


async def _stop(gateway: Gateway, server: Server, stopping: asyncio.Event) -> None:
    await stopping.wait()
    await gateway.stop()
    server.should_exit = True


def _raise_file_limit() -> None:
    """Thousands of waiting callers are thousands of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _silent(url: str) -> None:
    """Tell nobody."""
