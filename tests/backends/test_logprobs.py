import math

import pytest

from raas_sdk.backends.logprobs import checked_ids, checked_logprobs
from raas_sdk.errors import BackendContract


def test_the_sampled_ids_value_is_taken_from_a_map_of_candidates() -> None:
    found = checked_logprobs([{"77": -0.05, "20": -2.5}], [20], field="logprobs")
    assert list(found) == [-2.5]


def test_the_sampled_ids_value_is_taken_from_candidates_with_details() -> None:
    nested = {"77": {"logprob": -0.05, "rank": 1}, "20": {"logprob": -2.5, "rank": 3}}
    entry = {"token_id": 77, "logprob": -0.05, "top_logprobs": [{"token_id": 77, "logprob": -0.05},
                                                                {"token_id": 20, "logprob": -2.5}]}  # fmt: skip
    named = {"token": "token_id:20", "logprob": -2.5}
    assert list(checked_logprobs([nested, entry, named], [20, 20, 20], field="logprobs")) == [-2.5] * 3


@pytest.mark.parametrize("entry", [{"77": -0.05}, {"token_id": 77, "logprob": -0.05}, None, "x", True, [-1.0]])
def test_a_position_without_the_sampled_id_is_a_broken_contract(entry: object) -> None:
    with pytest.raises(BackendContract, match=r"logprobs\[0\]"):
        checked_logprobs([entry], [20], field="logprobs")


@pytest.mark.parametrize("value", [0.3, math.nan, math.inf, -math.inf, -9999.0, -1e9])
def test_a_value_no_sampled_token_can_have_is_a_broken_contract(value: float) -> None:
    with pytest.raises(BackendContract, match="no sampled token can have"):
        checked_logprobs([-0.1, value], [20, 21], field="logprobs")


def test_a_value_above_zero_by_rounding_passes_as_it_is() -> None:
    assert list(checked_logprobs([0.0, 0.0009765625], [20, 21], field="logprobs")) == [0.0, 0.0009765625]


@pytest.mark.parametrize("values", [None, [], [-0.1], [-0.1, -0.2, -0.3], "ab"])
def test_another_count_of_logprobs_than_of_tokens_is_a_broken_contract(values: object) -> None:
    with pytest.raises(BackendContract):
        checked_logprobs(values, [20, 21], field="logprobs")


def test_an_empty_reply_needs_no_logprobs() -> None:
    assert list(checked_logprobs(None, [], field="logprobs")) == []


@pytest.mark.parametrize("values", [None, "text", [1, "2"], [1, -2], [1, 2.0], [True], [2**31], {"ids": []}])
def test_what_is_no_list_of_token_ids_is_a_broken_contract(values: object) -> None:
    with pytest.raises(BackendContract):
        checked_ids(values, field="token_ids")
