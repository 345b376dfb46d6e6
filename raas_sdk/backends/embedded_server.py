"""The child process of the embedded model: llama.cpp's own server on one GGUF file.

    python -m raas_sdk.backends.embedded_server --model FILE.gguf --port 8100

It writes one JSON line to its output: {"port": ...} once it answers, {"error": ...} if it cannot serve. It ends
when its input does, when its parent dies, and on SIGTERM, at once each time: there is nothing to save.
"""

import argparse
import ctypes
import http.client
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

__all__ = ["main"]

PR_SET_PDEATHSIG = 1
BATCH_TOKENS = 32
SILENT = -1
ANSWER_SECONDS = 30.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the input ends; never returns."""
    options = _parser().parse_args(arguments)
    _die_with_parent()
    told = _own_output()
    # A Ctrl-C in the terminal reaches the whole group; whether the model ends is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server = _start(options)
        port = _answering_port(server.listening_address)
    except Exception as error:  # noqa: BLE001  (told to the parent, whatever it is)
        _tell(told, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    _tell(told, {"port": port})
    os.close(told)
    while os.read(sys.stdin.fileno(), 4096):
        continue
    os._exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="embedded_server", description="Serve one GGUF file on loopback.")
    parser.add_argument("--model", required=True, help="the GGUF file")
    parser.add_argument(
        "--port", type=int, default=0, help="0 takes a free one; a port held with SO_REUSEPORT is shared"
    )
    parser.add_argument("--slots", type=int, default=8, help="requests that are served at the same time")
    parser.add_argument("--context-tokens", type=int, default=2048, help="prompt and reply of one request")
    parser.add_argument("--threads", type=int, default=1)
    return parser


def _die_with_parent() -> None:
    """Beside the end of the input: another child of the parent may hold the pipe's other end open."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _own_output() -> int:
    """The output as a descriptor of its own, so that nothing the library prints can reach the parent."""
    told = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return told


def _start(options: argparse.Namespace) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = options.model
    parameters.port = options.port
    parameters.reuse_port = True
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.slots * options.context_tokens
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    # Batches under 64 tokens are computed one way, larger ones another, and logprobs of the same tokens then
    # differ by tenths. With small ones alone they are the same to the bit, however requests share the slots.
    parameters.n_ubatch = BATCH_TOKENS
    # Whole prompts of past requests would be kept in memory, up to 8 GB.
    parameters.cache_ram_mib = 0
    parameters.verbosity = SILENT
    parameters.ui = False
    return xllamacpp.Server(parameters)


def _answering_port(address: str) -> int:
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_SECONDS)
    connection.request("GET", "/health")
    status = connection.getresponse().status
    connection.close()
    if status != http.client.OK:
        raise RuntimeError(f"GET /health answered {status}")
    return place.port or 0


def _tell(pipe: int, message: Mapping[str, Any]) -> None:
    os.write(pipe, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
