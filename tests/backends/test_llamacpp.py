import math

import pytest

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.llamacpp import body_of
from raas_sdk.backends.llamacpp_logprobs import aligned_logprobs
from raas_sdk.backends.llamacpp_recovery import MOST_RECOVERED
from raas_sdk.backends.target import BackendTarget
from raas_sdk.errors import BackendContract
from raas_sdk.testing.fake_backend import FakeBackend


def test_nothing_but_the_temperature_is_applied_unless_asked_for() -> None:
    assert body_of(GenerateRequest([1], 8))["samplers"] == ["temperature"]


def test_the_cuts_that_are_asked_for_are_named_and_sent() -> None:
    body = body_of(GenerateRequest([1], 8, top_p=0.9, top_k=5, min_p=0.1, seed=4))
    assert body["samplers"] == ["temperature", "min_p", "top_k", "top_p"]
    assert (body["top_p"], body["top_k"], body["min_p"], body["seed"]) == (0.9, 5, 0.1, 4)


def test_no_stop_strings_are_ever_sent() -> None:
    assert "stop" not in body_of(GenerateRequest([1], 8, stop_token_ids=(2,)))


async def test_a_stop_id_that_did_not_stop_is_noted_and_nothing_is_cut(client: BackendClient) -> None:
    async with FakeBackend("llamacpp", script=[[20, 5, 21]]) as backend:
        request = GenerateRequest([1], 8, stop_token_ids=(5,))
        generation = await client.generate(BackendTarget(backend.address, "llamacpp"), request)
    assert list(generation.token_ids) == [20, 5, 21]
    assert generation.note == "stop id 5 at 1 of 3 did not end the reply; nothing was cut"


def entries(*pairs: tuple[int, float]) -> list[dict[str, object]]:
    return [{"id": token, "logprob": value, "top_logprobs": []} for token, value in pairs]


def test_given_logprobs_go_to_the_ids_they_name() -> None:
    found = aligned_logprobs(entries((5, -1.0), (7, -2.0)), [5, 6, 7])
    assert (found[0], math.isnan(found[1]), found[2]) == (-1.0, True, -2.0)


def test_a_match_that_is_not_certain_is_not_guessed() -> None:
    found = aligned_logprobs(entries((5, -1.0), (7, -2.0)), [5, 5, 7])
    assert [math.isnan(value) for value in found] == [True, True, False]


def test_a_candidate_list_gives_the_sampled_ids_value() -> None:
    entry = {"id": 20, "logprob": -2.5, "top_logprobs": [{"id": 77, "logprob": -0.05}]}
    assert list(aligned_logprobs([entry], [20])) == [-2.5]


@pytest.mark.parametrize(
    "given", [{}, ["x"], [{"logprob": -1.0}], entries((9, -1.0)), entries((6, -1.0), (5, -1.0)),
              entries((5, -1.0), (6, -1.0), (7, -1.0)), entries((5, 0.5))]
)  # fmt: skip
def test_logprobs_that_fit_no_tokens_are_a_broken_contract(given: object) -> None:
    with pytest.raises(BackendContract):
        aligned_logprobs(given, [5, 6])


async def test_a_logprob_that_was_left_out_is_asked_for_again_exactly(client: BackendClient) -> None:
    for seed in range(6):  # likely and unlikely tokens: some are told only with the whole vocabulary
        async with FakeBackend("llamacpp", script=[[20, 21, 22]], seed=seed) as backend:
            backend.faults.fail_next(1, "gap")
            request = GenerateRequest([1, 10], 8, seed=1)
            healed = await client.generate(BackendTarget(backend.address, "llamacpp"), request)
            whole = await client.generate(BackendTarget(backend.address, "llamacpp"), request)
        assert healed.logprobs == whole.logprobs
        assert healed.note is not None and "1 of 3 logprobs were asked for again" in healed.note
        assert whole.note is None


async def test_a_connection_lost_while_asking_again_costs_no_logprob(client: BackendClient) -> None:
    async with FakeBackend("llamacpp", script=[[20, 21, 22]]) as backend:
        backend.faults.fail_next(1, "gap")
        backend.faults.fail_next(2, "cut")
        healed = await client.generate(BackendTarget(backend.address, "llamacpp"), GenerateRequest([1], 8))
    assert all(math.isfinite(value) for value in healed.logprobs)
    assert healed.tries == 1


async def test_a_reply_without_any_logprob_is_healed_backwards(client: BackendClient) -> None:
    async with FakeBackend("llamacpp", script=[[20, 20, 20, 20]]) as backend:
        backend.faults.fail_next(1, "no_logprobs")
        healed = await client.generate(BackendTarget(backend.address, "llamacpp"), GenerateRequest([1], 8))
        whole = await client.generate(BackendTarget(backend.address, "llamacpp"), GenerateRequest([1], 8))
    assert healed.logprobs == whole.logprobs


async def test_a_logprob_that_cannot_be_had_stays_nan_and_is_told(client: BackendClient) -> None:
    async with FakeBackend("llamacpp", script=[[20, 21, 22]]) as backend:
        backend.faults.fail_next(1, "gap")
        backend.faults.fail_next(3, "cut")
        generation = await client.generate(BackendTarget(backend.address, "llamacpp"), GenerateRequest([1], 8))
    assert [math.isnan(value) for value in generation.logprobs] == [False, True, False]
    assert generation.note is not None and "no certain logprob for 1 of 3 tokens" in generation.note
    assert generation.tries == 1


async def test_too_many_missing_logprobs_are_left_nan(client: BackendClient) -> None:
    count = MOST_RECOVERED + 1
    async with FakeBackend("llamacpp", script=[[20] * count]) as backend:
        backend.faults.fail_next(1, "no_logprobs")
        generation = await client.generate(BackendTarget(backend.address, "llamacpp"), GenerateRequest([1], 999))
        assert backend.requests == 1
    assert all(math.isnan(value) for value in generation.logprobs)
    assert generation.note is not None and f"{count} of {count}" in generation.note
