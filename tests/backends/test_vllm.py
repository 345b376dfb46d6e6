import pytest

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.target import BackendTarget
from raas_sdk.backends.vllm import _version_spans
from raas_sdk.errors import BackendContract
from raas_sdk.testing.fake_backend import FakeBackend


async def test_the_request_id_of_the_server_is_kept(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("vllm") as backend:
        generation = await client.generate(BackendTarget(backend.address, "vllm"), asked)
    assert generation.request_id == "generate-tokens-r1"


async def test_sampling_parameters_reach_the_server(client: BackendClient) -> None:
    request = GenerateRequest([1], 8, temperature=0.5, top_p=0.9, top_k=5, min_p=0.1, seed=4, stop_token_ids=(2,))
    async with FakeBackend("vllm") as backend:
        await client.generate(BackendTarget(backend.address, "vllm"), request)
        sent = backend.calls[0].params["sampling_params"]
    assert sent == {"max_tokens": 8, "temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "seed": 4,
                    "stop_token_ids": [2], "logprobs": 0}  # fmt: skip


async def test_a_server_without_the_token_route_is_asked_by_completions(
    client: BackendClient, asked: GenerateRequest
) -> None:
    async with FakeBackend("vllm_completions") as backend:
        target = BackendTarget(backend.address, "vllm")
        first = await client.generate(target, asked)
        second = await client.generate(target, asked)
        assert [list(first.token_ids), list(second.token_ids)] == [[7, 8, 2], [7, 8, 2]]
        assert backend.calls[0].params["return_token_ids"] is True
        assert backend.calls[0].params["logprobs"] == 0


async def test_the_version_the_server_tells_is_read(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("vllm", script=[[20, 21, 22, 2]]) as backend:
        backend.version = "7"
        steady = await client.generate(BackendTarget(backend.address, "vllm"), asked)
        backend.faults.fail_next(1, "swap")
        swapped = await client.generate(BackendTarget(backend.address, "vllm"), asked)
    assert (steady.version_spans, swapped.version_spans) == (((4, 7),), ((2, 7), (2, 8)))


async def test_a_swap_between_labels_without_numbers_is_told(client: BackendClient, asked: GenerateRequest) -> None:
    async with FakeBackend("vllm", script=[[20, 21, 22, 2]]) as backend:
        backend.version = "step-a"
        backend.faults.fail_next(1, "swap")
        generation = await client.generate(BackendTarget(backend.address, "vllm"), asked)
    assert generation.version_spans == ((2, -1), (2, -1))
    assert generation.note is not None and "step-a-next" in generation.note


@pytest.mark.parametrize(
    "given", ["7", [{"version": "7"}], [{"version": "7", "start": 0, "end": 3}],
              [{"version": "7", "start": 1, "end": 4}], [{"version": "7", "start": 0, "end": "x"}]]
)  # fmt: skip
def test_version_spans_that_do_not_cover_the_reply_are_a_broken_contract(given: object) -> None:
    from array import array

    with pytest.raises(BackendContract, match="weight_versions"):
        _version_spans(given, array("i", [20, 21, 22, 2]))
