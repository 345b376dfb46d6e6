"""Many rollouts through one client."""

import pytest

from raas_sdk.client import Batch, RolloutClient, SamplePlan, ServiceUnreachable

PLAN = SamplePlan("f", samples=5)
REFUSAL = (400, {"detail": "no plugin", "code": "unknown_source"}, {})


@pytest.fixture
def samples():
    return list(PLAN.expand([{"data_source": "echo"}]))


async def test_every_sample_is_asked_for_once(service, quick, samples, result):
    service.answers, got = [(200, result(), {})], []
    async with RolloutClient(service.url, patience=quick) as client:
        batch = Batch(client, samples, lambda sample, result: got.append(sample.key))
        await batch.run(concurrency=2)
    assert sorted(got) == [sample.key for sample in samples]
    assert len(service.requests) == 5
    assert batch.in_flight == 0


async def test_one_refused_sample_does_not_stop_the_others(service, quick, samples, result):
    service.answers, got = [REFUSAL, (200, result(), {})], []
    async with RolloutClient(service.url, patience=quick) as client:
        batch = Batch(client, samples, lambda sample, result: got.append(sample.key))
        await batch.run(concurrency=1)
    assert (len(got), len(batch.refused), batch.refused[0][1].code) == (4, 1, "unknown_source")


async def test_a_service_that_is_gone_ends_the_batch(service, quick, samples):
    service.answers = ["cut"]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(ServiceUnreachable):
            await Batch(client, samples, lambda *_: None).run(concurrency=2)


async def test_a_wrong_token_ends_the_batch_at_once(service, quick, samples):
    service.answers = [(401, {"detail": "no", "code": "unauthorized"}, {})]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(ServiceUnreachable, match="unauthorized"):
            await Batch(client, samples, lambda *_: None).run(concurrency=1)
    assert len(service.requests) == 1


async def test_a_batch_of_nothing_ends(service):
    async with RolloutClient(service.url) as client:
        await Batch(client, [], lambda *_: None).run(concurrency=4)
    assert service.requests == []
