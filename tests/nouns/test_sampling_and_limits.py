import math

import pytest

from raas_sdk import BadSampling, Limits, Sampling
from raas_sdk.errors import SettingsInvalid
from raas_sdk.settings import Settings

UPSTREAM = {
    "model": "hosted_vllm/org/name",
    "api_key": "dummy",
    "modify_params": False,
    "log_completions": False,
    "native_tool_calling": True,
    "temperature": 0.7,
    "top_p": 0.9,
    "max_iterations": 35,
    "max_output_tokens": 1536,
    "token_level_generation": True,
    "custom_tokenizer": "org/name",
    "max_model_len": 32768,
    "ensure_thinking_end_properly": False,
}


def parse(**params):
    return Sampling.parse(params, also_known=Limits.names())


def test_the_parameters_of_an_upstream_trainer_are_used_or_ignored_with_a_note():
    sampling, limits = parse(**UPSTREAM), Limits().overridden(UPSTREAM)
    assert (sampling.temperature, sampling.top_p) == (0.7, 0.9)
    assert (limits.max_turns, limits.max_output_tokens, limits.max_model_len) == (35, 1536, 32768)
    noted = {note.split(" ")[0] for note in sampling.notes}
    used = {"temperature", "top_p", "max_iterations", "max_output_tokens", "max_model_len"}
    assert noted | used == set(UPSTREAM) and not noted & used


def test_an_unknown_parameter_is_refused_and_the_known_ones_are_named():
    with pytest.raises(BadSampling, match=r"'temprature'; known: .*temperature"):
        parse(temprature=1)


def test_what_is_null_keeps_its_default():
    assert parse(temperature=None, seed=None, model=None).temperature == 1.0


@pytest.mark.parametrize(
    "params",
    [
        {"temperature": -0.1},
        {"temperature": math.nan},
        {"temperature": "hot"},
        {"temperature": True},
        {"top_p": 1.1},
        {"min_p": -1},
        {"top_k": 1.5},
        {"top_k": 2**70},
        {"seed": "7"},
        {"seed": 2**64},
        {"enable_thinking": 1},
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(params):
    with pytest.raises(BadSampling, match=next(iter(params))):
        parse(**params)


def test_samples_attempts_and_turns_of_one_seed_differ():
    sampling = Sampling(seed=7)
    seeds = {sampling.turn_seed(sample_index=s, attempt=a, turn=t) for s in range(8) for a in (1, 2) for t in range(8)}
    assert len(seeds) == 128
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sampling.turn_seed(sample_index=0, attempt=1, turn=0) == Sampling(seed=7).turn_seed(
        sample_index=0, attempt=1, turn=0
    )


@pytest.mark.parametrize(
    "values",
    [
        {"max_turns": 0},
        {"max_turns": None},
        {"max_turns": 2.5},
        {"max_turns": 10**30},
        {"max_iterations": -1},
        {"run_seconds": math.nan},
        {"run_seconds": math.inf},
        {"run_seconds": 0},
        {"eval_seconds": "60"},
        {"collect_seconds": None},
        {"infra_retries": None},
        {"infra_retries": True},
        {"max_total_tokens": False},
    ],
)
def test_a_limit_out_of_range_is_refused_by_name(values):
    (name,) = values
    with pytest.raises(BadSampling, match="max_turns" if name == "max_iterations" else name):
        Limits().overridden(values)


def test_a_limit_of_none_means_none():
    limits = Limits().overridden({"run_seconds": None, "total_seconds": None, "max_output_tokens": None})
    assert limits.run_seconds is None and limits.total_seconds is None


def test_the_operators_limits_are_the_defaults_of_every_job():
    assert Settings(limits={"max_turns": 3}).job_limits() == Limits(max_turns=3)
    with pytest.raises(SettingsInvalid, match="max_turn'"):
        Settings(limits={"max_turn": 3}).job_limits()
