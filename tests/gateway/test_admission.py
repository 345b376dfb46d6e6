import pytest

from raas_sdk import BadInstance, BadRequest, BadSampling, Purpose
from raas_sdk.gateway import admit

GOOD = {"instance": {"data_source": "task", "prompt": "x"}}


@pytest.fixture
def taken(settings_of):
    return lambda body, **flags: admit(body, settings_of(**flags))


def test_a_body_becomes_a_job(taken):
    more = {"purpose": "eval", "pool": "p", "group_id": "g", "sample_index": 3, "job_id": "j"}
    submission = taken({**GOOD, **more, "sampling_params": {"temperature": 0.5, "max_iterations": 4}})
    job = submission.job
    assert (job.job_id, job.purpose, job.pool, job.group_id, job.sample_index) == ("j", Purpose.EVAL, "p", "g", 3)
    assert (job.sampling.temperature, job.limits.max_turns, job.attempt) == (0.5, 4, 1)
    assert submission.named and not taken(GOOD).named


def test_limits_come_from_the_operator_then_sampling_params_then_the_bodys_own(taken):
    body = {**GOOD, "sampling_params": {"max_turns": 5, "max_output_tokens": 7}, "limits": {"max_output_tokens": 9}}
    limits = taken(body, limits={"max_turns": 2, "infra_retries": 0}).job.limits
    assert (limits.max_turns, limits.max_output_tokens, limits.infra_retries) == (5, 9, 0)


def test_ids_are_made_and_unique_and_a_seed_is_drawn_and_recorded(taken):
    jobs = [taken(GOOD).job for _ in range(500)]
    assert len({job.job_id for job in jobs}) == 500
    assert all(isinstance(job.sampling.seed, int) for job in jobs)


@pytest.mark.parametrize("name", ["żółć 中", "../../etc/x", "a/b", "%2e%2e%2f", "..", "x" * 256])
def test_a_name_of_printable_characters_is_taken_as_it_is(taken, name):
    assert taken({**GOOD, "job_id": name}).job.job_id == name


@pytest.mark.parametrize("name", ["", "x" * 257, "x" * 10_000, "a\u0000b", "a\nb", "\ud800", 17, 1.5, True, ["a"], {}])
def test_any_other_name_is_refused(taken, name):
    with pytest.raises(BadRequest, match="job_id"):
        taken({**GOOD, "job_id": name})


@pytest.mark.parametrize(
    ("body", "error", "said"),
    [
        ([], BadRequest, "JSON object, not list"),
        (None, BadRequest, "JSON object"),
        ({}, BadInstance, "JSON object"),
        ({"instance": []}, BadInstance, "not list"),
        ({"instance": {}}, BadInstance, "data_source"),
        ({**GOOD, "sampling": {}}, BadRequest, "'sampling'; known: .*sampling_params"),
        ({**GOOD, "sampling_params": []}, BadSampling, "sampling_params"),
        ({**GOOD, "sampling_params": {"heat": 1}}, BadSampling, "'heat'"),
        ({**GOOD, "sampling_params": {"model": "\ud800"}}, BadSampling, "sampling_params"),
        ({**GOOD, "limits": {"max_turn": 1}}, BadSampling, "'max_turn'"),
        ({**GOOD, "limits": 3}, BadSampling, "limits"),
        ({**GOOD, "limits": {"max_turns": 10**40}}, BadSampling, "max_turns"),
        ({**GOOD, "purpose": "play"}, BadRequest, "purpose"),
        ({**GOOD, "purpose": ["train"]}, BadRequest, "purpose"),
        ({**GOOD, "pool": ""}, BadRequest, "pool"),
        ({**GOOD, "pool": "a\nb"}, BadRequest, "pool"),
        ({**GOOD, "group_id": 3}, BadRequest, "group_id"),
        ({**GOOD, "sample_index": -1}, BadRequest, "sample_index"),
        ({**GOOD, "sample_index": True}, BadRequest, "sample_index"),
        ({**GOOD, "sample_index": 2**40}, BadRequest, "sample_index"),
    ],
)
def test_a_body_of_no_use_is_refused_with_the_field_at_fault(taken, body, error, said):
    with pytest.raises(error, match=said):
        taken(body)


def test_the_same_body_has_the_same_digest_whatever_the_order_of_its_keys(taken):
    one = {"instance": {"data_source": "task", "a": 1, "b": 2}, "sampling_params": {"top_p": 1, "seed": 2}}
    other = {"sampling_params": {"seed": 2, "top_p": 1}, "instance": {"b": 2, "a": 1, "data_source": "task"}}
    assert taken(one).body_digest == taken({**other, "job_id": "j"}).body_digest


@pytest.mark.parametrize(
    "change",
    [
        {"instance": {"data_source": "task", "prompt": "y"}},
        {"sampling_params": {"temperature": 0.1}},
        {"limits": {"max_turns": 1}},
        {"sample_index": 1},
        {"purpose": "eval"},
        {"pool": "other"},
    ],
)
def test_another_body_has_another_digest(taken, change):
    assert taken(GOOD).body_digest != taken({**GOOD, **change}).body_digest
