"""Which rollouts a batch asks for."""

from raas_sdk.client import SamplePlan
from raas_sdk.client.samples import instance_digest
from raas_sdk.instance import Instance

TASKS = [{"data_source": "echo", "n": 1}, {"data_source": "echo", "n": 2}, {"n": 1, "data_source": "echo"}]


def test_the_digest_is_the_services_own():
    task = {"data_source": "echo", "text": "żółć", "number": 1.5, "nested": {"b": [1, None], "a": True}}
    assert instance_digest(task) == Instance.parse(task).digest


def test_every_sample_has_its_own_key_also_where_a_task_stands_twice():
    samples = list(SamplePlan("f", samples=3).expand(TASKS))
    assert len({sample.key for sample in samples}) == 9
    assert len({sample.body["job_id"] for sample in samples}) == 9
    assert [s.sample_index for s in samples] == [0, 1, 2, 0, 1, 2, 3, 4, 5]
    assert len({s.body["group_id"] for s in samples}) == 2


def test_names_stay_the_same_until_file_run_or_parameters_change():
    def ids(plan):
        return [sample.body["job_id"] for sample in plan.expand(TASKS)]

    assert ids(SamplePlan("f")) == ids(SamplePlan("f"))
    others = [SamplePlan("g"), SamplePlan("f", sampling_params={"temperature": 0.5}), SamplePlan("f", purpose="eval")]
    for other in others:
        assert not set(ids(SamplePlan("f"))) & set(ids(other))
    assert set(ids(SamplePlan("f", samples=1))) < set(ids(SamplePlan("f", samples=3)))
