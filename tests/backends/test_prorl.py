import pytest

from raas_sdk.backends.generation import GenerateRequest
from raas_sdk.backends.prorl import body_of


def test_upstreams_fields_are_sent_and_others_only_when_asked_for() -> None:
    assert body_of(GenerateRequest([1, 2], 8, seed=5)) == {
        "prompt_ids": [1, 2],
        "max_tokens": 8,
        "temperature": 1.0,
        "top_p": 1.0,
        "skip_special_tokens": False,
        "seed": 5,
    }


@pytest.mark.parametrize(("name", "value"), [("top_k", 5), ("min_p", 0.1)])
def test_a_cut_that_is_asked_for_is_sent(name: str, value: float) -> None:
    assert body_of(GenerateRequest([1], 8, **{name: value}))[name] == value


def test_stop_ids_are_sent_when_there_are_any() -> None:
    assert body_of(GenerateRequest([1], 8, stop_token_ids=(2, 3)))["stop_token_ids"] == [2, 3]
