"""The fake that others test against: its script, its seeds, its record and its command line."""

import asyncio
import json
import signal
import sys
import urllib.request

import aiohttp
import pytest

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BackendRefused
from raas_sdk.testing.fake_backend import FakeBackend, main
from raas_sdk.testing.faults import Faults


async def sampled(backend: FakeBackend, client: BackendClient, times: int = 1) -> list[list[int]]:
    target = BackendTarget(backend.address, backend.wire)
    request = GenerateRequest([1, 2], 16)
    return [list((await client.generate(target, request)).token_ids) for _ in range(times)]


async def test_replies_come_in_turn_over_and_over(client: BackendClient) -> None:
    async with FakeBackend("prorl", script=[[1], [2], [3]]) as backend:
        assert await sampled(backend, client, 7) == [[1], [2], [3], [1], [2], [3], [1]]


async def test_random_replies_repeat_with_the_seed(client: BackendClient) -> None:
    drawn = []
    for seed in (1, 1, 2):
        async with FakeBackend("prorl", script=[[1], [2], [3]], order="random", seed=seed) as backend:
            drawn.append(await sampled(backend, client, 20))
    assert drawn[0] == drawn[1] != drawn[2]


async def test_a_text_script_is_encoded_once(client: BackendClient) -> None:
    async with FakeBackend("prorl", script=["ab", "c"], encode=lambda text: list(text.encode())) as backend:
        assert await sampled(backend, client, 2) == [[97, 98], [99]]


def test_a_text_script_without_an_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="encode="):
        FakeBackend("prorl", script=["ab"])


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one reply"):
        FakeBackend("prorl", script=[])


async def test_logprobs_depend_on_seed_prompt_and_reply_alone(client: BackendClient) -> None:
    seen = []
    for seed in (1, 1, 2):
        async with FakeBackend("prorl", seed=seed) as backend:
            await sampled(backend, client, 2)
            assert backend.calls[0].logprobs == backend.calls[1].logprobs
            seen.append(backend.calls[0].logprobs)
    assert seen[0] == seen[1] != seen[2]


async def test_faults_pass_in_the_order_they_were_queued(client: BackendClient) -> None:
    faults = Faults()
    faults.pass_next(1)
    faults.fail_next(1, status=401)
    async with FakeBackend("prorl", faults=faults) as backend:
        await sampled(backend, client)
        with pytest.raises(BackendRefused):
            await sampled(backend, client)
        await sampled(backend, client)
        assert (len(backend.calls), backend.requests, backend.faults.fired["status"]) == (2, 3, 1)


async def test_an_answer_may_take_its_time(client: BackendClient) -> None:
    async with FakeBackend("prorl", faults=Faults(latency_seconds=0.002, jitter_seconds=0.002)) as backend:
        assert await sampled(backend, client, 3) == [[7, 8, 2]] * 3


async def test_a_request_of_another_wire_is_refused_and_said_so(wire: str) -> None:
    async with FakeBackend(wire) as backend, aiohttp.ClientSession() as session:
        route = {"prorl": "/generate", "llamacpp": "/completion", "vllm": "/inference/v1/generate",
                 "vllm_completions": "/v1/completions"}[wire]  # fmt: skip
        async with session.post(backend.address + route, json={"messages": []}) as response:
            assert response.status == 422
            assert "does not fit" in await response.text()
        async with session.post(backend.address + route, data="{") as response:
            assert response.status == 400
        assert backend.calls == []


def test_a_fake_that_does_not_serve_has_no_address() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        _ = FakeBackend("prorl").address


@pytest.mark.parametrize(
    ("arguments", "sent", "expected"),
    [
        (["--ids", "5,6,2", "--ids", "9"], {"prompt_ids": [1], "max_tokens": 8}, [5, 6, 2]),
        (["--text", "ab", "--tokenizer", "test:chatml"], {"prompt_ids": [1], "max_tokens": 8}, [97, 98]),
    ],
)
async def test_the_command_serves_until_sigterm(
    arguments: list[str], sent: dict[str, object], expected: list[int]
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "raas_sdk.testing.fake_backend", *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().split(" at ")[1].strip()
        request = urllib.request.Request(f"{address}/generate", json.dumps(sent).encode())
        answer = await asyncio.to_thread(lambda: json.load(urllib.request.urlopen(request)))
    finally:
        process.send_signal(signal.SIGTERM)
        code = await process.wait()
    assert answer["response_ids"] == expected
    assert len(answer["logprobs"]) == len(expected)
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [([], "--ids or by --text"), (["--text", "a"], "--tokenizer"), (["--ids", "1", "--fault", "fire"], "no fault")],
)
def test_a_command_line_of_no_use_is_refused(
    arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert fault in capsys.readouterr().err
