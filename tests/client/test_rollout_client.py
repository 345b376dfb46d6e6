"""The client tries again where that can help, boundedly, and says what it counted."""

from random import Random

import pytest

from raas_sdk.client import CallRefused, Patience, RolloutClient, ServiceUnreachable

FULL = (429, {"detail": "full", "code": "queue_full"}, {"Retry-After": "0"})
NO_BACKEND = (503, {"detail": "none", "code": "no_backend"}, {})
DONE = (200, {"outcome": "scored"}, {})


async def test_429_503_and_lost_connections_are_tried_again_and_counted(service, quick):
    service.answers = [FULL, NO_BACKEND, "cut", DONE]
    async with RolloutClient(service.url, patience=quick) as client:
        assert await client.process({"instance": {}}) == {"outcome": "scored"}
        assert (client.retries["429"], client.retries["503"], client.retries.total()) == (1, 1, 3)
    assert len({request.body["job_id"] for request in service.requests}) == 1


async def test_a_body_without_an_id_gets_one_and_ends_with_its_caller(service, quick):
    service.answers = [DONE]
    async with RolloutClient(service.url, patience=quick) as client:
        await client.process({"instance": {}})
        await client.process({"instance": {}, "job_id": "mine"})
    minted, named = (request.body for request in service.requests)
    assert minted["on_disconnect"] == "cancel"
    assert named == {"instance": {}, "job_id": "mine"}


async def test_what_another_try_would_not_help_is_raised_at_once(service, quick):
    service.answers = [(400, {"detail": "no plugin", "code": "unknown_source"}, {})]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(CallRefused, match="no plugin") as caught:
            await client.process({"instance": {}})
    assert (caught.value.status, caught.value.code, len(service.requests)) == (400, "unknown_source", 1)


async def test_tries_are_bounded(service, quick):
    service.answers = [FULL]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(CallRefused):
            await client.status()
        assert len(service.requests) == 4
        service.answers = ["cut"]
        with pytest.raises(ServiceUnreachable, match="in 4 tries"):
            await client.status()


async def test_an_answer_that_is_no_json_is_explained(service, quick):
    service.answers = [(502, "not an object", {})]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(CallRefused, match="HTTP 502"):
            await client.cancel("x")


async def test_the_token_is_sent_and_the_small_calls_work(service, quick):
    service.answers = [(200, {"known": True, "status": "running"}, {})]
    async with RolloutClient(service.url, token="s3cret", patience=quick) as client:
        assert await client.cancel("j1") is True
        assert (await client.status())["status"] == "running"
        await client.add_backend("http://h:1", weight=2.0)
        await client.wait_ready(5)
    assert {request.headers["Authorization"] for request in service.requests} == {"Bearer s3cret"}
    assert service.requests[2].body == {"address": "http://h:1", "weight": 2.0}
    assert service.requests[3].path == "/readyz"


async def test_waiting_for_a_service_that_is_not_ready_ends(service, quick):
    service.answers = [NO_BACKEND]
    async with RolloutClient(service.url, patience=quick) as client:
        with pytest.raises(ServiceUnreachable, match="not ready within"):
            await client.wait_ready(0.05)


def test_waits_double_are_capped_and_respect_retry_after():
    patience, rng = Patience(first_seconds=1.0, longest_seconds=4.0), Random(0)
    waits = [patience.wait_seconds(failed, rng) for failed in range(1, 9)]
    assert all(0 < wait <= 4.0 for wait in waits)
    assert patience.wait_seconds(1, rng, asked="3") == 3.0
    assert patience.wait_seconds(1, rng, asked="3600") == 4.0
    for odd in ("soon", "nan", "inf", "-5"):
        assert patience.wait_seconds(1, rng, asked=odd) <= 1.0
