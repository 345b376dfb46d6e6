"""An inference server with scripted replies: a real HTTP server on a loopback port, for tests and demos.

    async with FakeBackend("vllm", script=[[5, 6, 2]]) as backend:
        backend.faults.fail_next(2, status=503)
        ...  # register backend.address, run a rollout
        assert backend.calls[0].prompt_ids == (1, 10)

`python -m raas_sdk.testing.fake_backend --wire prorl --port 9000 --ids 5,6,2` serves one until SIGTERM.
"""

import argparse
import asyncio
import json
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Literal, Self, cast, get_args

from aiohttp import web

from raas_sdk.testing.fake_failures import FAILURES
from raas_sdk.testing.fake_llamacpp import FakeLlamacpp
from raas_sdk.testing.fake_replies import Script, ended, replies, seeded_logprobs, spoiled
from raas_sdk.testing.fake_wires import Asked, FakeCall, FakeProrl, FakeVllm, FakeVllmCompletions, FakeWire
from raas_sdk.testing.faults import Fault, FaultKind, Faults
from raas_sdk.tokens import load_renderer

__all__ = ["FakeBackend", "main"]

FAKE_WIRES: Mapping[str, type[FakeWire]] = {
    "llamacpp": FakeLlamacpp,
    "prorl": FakeProrl,
    "vllm": FakeVllm,
    "vllm_completions": FakeVllmCompletions,
}
ABOUT = "Serve scripted replies by token ids on 127.0.0.1, as an inference server would."


class FakeBackend:
    """Answers one wire ("vllm", "vllm_completions", "llamacpp" or "prorl") with the replies of `script`.

    A reply ends after the first of the request's stop ids or of `end_ids`, or at max_tokens. Logprobs depend
    on `seed`, prompt and reply alone, and are exact as float32. Prompts of `context` tokens or more are
    refused as that server would. `order` "random" draws replies by `seed`.

    `calls` holds the replies in order, as sampled, also where a fault spoiled the answer. `requests` counts
    what came in, `probes` the GETs, `connections` those accepted, `disconnects` clients that left before
    their answer. `version` is told where the wire has a field for it.
    """

    def __init__(
        self,
        wire: str = "vllm",
        *,
        script: Script = ((7, 8, 2),),
        encode: Callable[[str], Sequence[int]] | None = None,
        order: Literal["cycle", "random"] = "cycle",
        seed: int = 0,
        faults: Faults | None = None,
        end_ids: Sequence[int] = (),
        context: int | None = None,
    ) -> None:
        self.wire = wire
        self.faults = faults or Faults()
        self.version: str | None = None
        self.calls: list[FakeCall] = []
        self.requests = 0
        self.probes = 0
        self.connections = 0
        self.disconnects = 0
        self._fake = FAKE_WIRES[wire]()
        self._next = replies(script, encode, None if order == "cycle" else random.Random(seed))
        self._seed = seed
        self._end_ids = frozenset(end_ids)
        self._context = context
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._runner: web.AppRunner | None = None

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT` of the running server."""
        if self._server is None:
            raise RuntimeError("this FakeBackend does not serve; use it inside 'async with'")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        """Serve on a loopback port (0: any free one)."""
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/{path:.*}", self._post)
        app.router.add_get("/{path:.*}", self._probe)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.0)
        await runner.setup()
        loop = asyncio.get_running_loop()
        self._runner = runner
        self._server = await loop.create_server(self._connected, "127.0.0.1", port, reuse_address=True)

    async def stop(self) -> None:
        """Stop at once: open connections are cut, as when the process dies."""
        server, self._server = self._server, None
        runner, self._runner = self._runner, None
        if server is not None and runner is not None:
            server.close()
            for connection in () if runner.server is None else runner.server.connections:
                if connection.transport is not None:
                    connection.transport.abort()
            await asyncio.sleep(0)  # handlers notice that their client is gone
            await runner.cleanup()

    async def wait_requests(self, count: int) -> None:
        """Return when so many requests for tokens have come in all."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.requests >= count)

    async def wait_disconnects(self, count: int) -> None:
        """Return when so many clients have left before their answer."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.disconnects >= count)

    def _connected(self) -> asyncio.BaseProtocol:
        self.connections += 1
        assert self._runner is not None and self._runner.server is not None
        return self._runner.server()

    async def _probe(self, request: web.Request) -> web.Response:
        self.probes += 1
        status = self.faults.probes_status
        if status is not None:
            return web.json_response({"error": {"message": "told to fail", "code": status}}, status=status)
        routes = {"/health": {"status": "ok"}, **self._fake.probes()}
        body = routes.get(request.path)
        return web.json_response({"detail": "Not Found"} if body is None else body, status=200 if body else 404)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        try:
            body = await request.json()
        except ValueError as error:
            return web.json_response({"detail": f"the body is not JSON: {error}"}, status=400)
        if request.path == self._fake.route:
            return await self._generate(request, body)
        aside = self._fake.aside(request.path, body)
        return web.json_response(aside or {"detail": "Not Found"}, status=200 if aside else 404)

    async def _generate(self, request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        async with self._noticing():
            fault = self.faults.take()
            await self._delay()
            aside = self._fake.aside(request.path, body)
            if aside is not None and fault is None:
                return web.json_response(aside)
            try:
                asked = self._fake.asked(body)
            except (KeyError, TypeError, ValueError) as error:
                return web.json_response({"detail": f"the request does not fit: {error!r}"}, status=422)
            if self._is_too_long(asked) or (fault is not None and fault.kind == "context"):
                limit = self._context or len(asked.prompt_ids)
                return web.json_response(self._fake.too_long(asked, limit), status=400)
            if fault is not None and fault.kind in FAILURES:
                return await FAILURES[fault.kind](request, fault)
            return self._answer(asked, None if fault is None else fault.kind)

    @asynccontextmanager
    async def _noticing(self) -> AsyncIterator[None]:
        self.requests += 1
        await self._tell()
        try:
            yield
        except asyncio.CancelledError:
            self.disconnects += self._server is not None
            await self._tell()
            raise

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _delay(self) -> None:
        spread = self.faults.jitter_seconds
        seconds = self.faults.latency_seconds + random.uniform(-spread, spread)
        if seconds > 0:
            await asyncio.sleep(seconds)

    def _is_too_long(self, asked: Asked) -> bool:
        return self._context is not None and len(asked.prompt_ids) >= self._context

    def _answer(self, asked: Asked, kind: str | None) -> web.Response:
        call = self._sampled(asked, kind)
        body = self._fake.answer(call, spoiled(call.logprobs, kind))
        if self.wire == "vllm" and (self.version is not None or kind == "swap"):
            body["choices"][0]["weight_versions"] = _spans(self.version or "0", call, swap=kind == "swap")
        if kind == "no_ids":
            _drop_ids(body)
        self.calls.append(call)
        return web.Response(body=json.dumps(body).encode(), content_type="application/json")

    def _sampled(self, asked: Asked, kind: str | None) -> FakeCall:
        own_stops = self.wire == "llamacpp"
        stops = self._end_ids if own_stops else self._end_ids | set(asked.stop_token_ids)
        ids, reason = ended(tuple(self._next(asked.prompt_ids)), stops, asked.max_tokens)
        if kind == "abort":
            ids, reason = ids[: len(ids) // 2], "abort"
        if kind == "no_stop" and ids and ids[-1] in stops:
            ids = ids[:-1]
        logprobs = seeded_logprobs(self._seed, asked.prompt_ids, ids)
        return FakeCall(asked.prompt_ids, asked.params, ids, logprobs, reason, asked.request_id)


def _spans(version: str, call: FakeCall, *, swap: bool) -> list[dict[str, Any]]:
    count = len(call.response_ids)
    border = count // 2 if swap else count
    following = str(int(version) + 1) if version.isdecimal() else f"{version}-next"
    spans = [{"version": version, "start": 0, "end": border}]
    return [*spans, {"version": following, "start": border, "end": count}] if swap else spans


def _drop_ids(body: dict[str, Any]) -> None:
    place = body["choices"][0] if "choices" in body else body
    for name in ("token_ids", "response_ids", "tokens"):
        place.pop(name, None)
    place["text"] = "text instead of ids"


def main(argv: Sequence[str] | None = None) -> None:
    """Serve a fake from the command line until SIGTERM or SIGINT; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m raas_sdk.testing.fake_backend", description=ABOUT)
    parser.add_argument("--wire", choices=sorted(FAKE_WIRES), default="prorl")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port; the address is printed")
    parser.add_argument("--ids", action="append", help="a reply as comma-separated token ids; may be repeated")
    parser.add_argument("--text", action="append", help="a reply as text, special tokens included")
    parser.add_argument("--tokenizer", help="what encodes --text: a directory, a .gguf file, test:chatml ...")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", type=_fault, help="what every call gets instead: 'hang', '503', ...")
    arguments = parser.parse_args(argv)
    if bool(arguments.ids) == bool(arguments.text):
        parser.error("give the replies by --ids or by --text")
    if arguments.text and not arguments.tokenizer:
        parser.error("--text needs --tokenizer")
    asyncio.run(_serve(arguments))


async def _serve(arguments: argparse.Namespace) -> None:
    faults = Faults(always=arguments.fault)
    backend = FakeBackend(arguments.wire, **_script_of(arguments), seed=arguments.seed, faults=faults)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await backend.start(arguments.port)
    sys.stdout.write(f"{arguments.wire} at {backend.address}\n")
    sys.stdout.flush()
    await stopped.wait()
    await backend.stop()


def _script_of(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.ids:
        return {"script": [[int(token) for token in ids.split(",")] for ids in arguments.ids]}
    renderer = load_renderer(arguments.tokenizer)
    return {"script": arguments.text, "encode": renderer.encode, "end_ids": renderer.stop_token_ids}


def _fault(text: str) -> Fault:
    if text.isdecimal():
        return Fault("status", status=int(text))
    if text not in get_args(FaultKind):
        raise argparse.ArgumentTypeError(f"{text!r} is no fault; known: {', '.join(get_args(FaultKind))}")
    return Fault(cast(FaultKind, text))


if __name__ == "__main__":
    main()
