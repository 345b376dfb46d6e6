"""What a client meets when inference servers are missing, busy, broken, swapped or hostile."""

import asyncio
from collections import Counter

import pytest

from raas_sdk.testing.faults import Fault

GARBAGE = ["html", "empty", "half_json", "other_shape", "error_object", "no_ids", "short_logprobs"]


def places(body):
    return [(t["backend"], t["version"]) for s in body["segments"] for t in s["turns"] if t["role"] == "assistant"]


async def test_a_job_before_any_backend_is_refused_at_once(serving):
    async with serving(register=False) as client:
        answer = await client.process(job_id="j1")
        assert (answer.status, answer.body["code"]) == (503, "no_backend")
        assert (await client.post("/add_llm_server", {"address": client.backends[0].address + "/v1"})).status == 200
        assert (await client.process(job_id="j1")).body["outcome"] == "scored"


async def test_long_and_short_jobs_are_spread_over_four_backends(serving):
    async with serving(backends=4, run_workers=32, init_workers=32, handover=32) as client:
        calls = [client.start(run=0.2 if n % 4 == 0 else 0.01) for n in range(64)]
        while not all(call.done() for call in calls):
            live = [backend["live"] for backend in (await client.status())["backends"]]
            assert max(live) <= 2 * sum(live) / 4 + 2
        assert {call.result().body["outcome"] for call in calls} == {"scored"}
        counts = [len(backend.calls) for backend in client.backends]
        assert sum(counts) == 64 and max(counts) <= 2 * min(counts) + 2


async def test_all_calls_of_a_job_go_to_one_backend(serving):
    async with serving(backends=3) as client:
        body = (await client.process(turns=6)).body
        assert sorted(len(backend.calls) for backend in client.backends) == [0, 0, 6]
        assert len(set(places(body))) == 1 and len(places(body)) == 6


async def test_running_jobs_finish_where_they_are_when_backends_are_swapped(serving):
    async with serving(backends=2) as client:
        old, new = (backend.address for backend in client.backends)
        second = next(row for row in (await client.status())["backends"] if row["address"] == new)
        await client.call("DELETE", f"/backends/{second['id']}?mode=now")
        calls = [client.start(run=0.3) for _ in range(2)]
        await client.until(lambda s: s["leases"]["held"] == 2)
        assert (await client.post("/clear_llm_server")).body["count"] == 1
        await client.post("/add_llm_server", {"address": new})
        later = (await client.process()).body
        for call in calls:
            assert set(places((await call).body)) == {(old, 0)}
        assert set(places(later)) == {(new, 1)} and later["policy_version"]["min"] == 1


async def test_one_cut_connection_costs_no_job(serving):
    async with serving() as client:
        client.backends[0].faults.pass_next(3)
        client.backends[0].faults.fail_next(1, "cut")
        answers = await asyncio.gather(*(client.process(job_id=f"j{n}") for n in range(8)))
        assert Counter(answer.body["outcome"] for answer in answers) == {"scored": 8}
        assert client.backends[0].requests == 9


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_backend_that_fails_for_ever_fails_the_job_after_few_calls(serving, status):
    async with serving() as client:
        client.backends[0].faults.always = Fault("status", status=status)
        body = (await client.process(job_id="j1")).body
        assert (body["outcome"], body["failure"]["code"], body["reward"]) == (
            "infra_error",
            "backend_unreachable",
            None,
        )
        assert client.backends[0].requests <= 9 and str(status) in body["error"]


async def test_no_more_calls_are_made_for_a_cancelled_job(serving):
    async with serving() as client:
        client.backends[0].faults.always = Fault("status", status=503)
        call = client.start(job_id="j1")
        await client.backends[0].wait_requests(1)
        assert (await client.post("/cancel", {"job_id": "j1"})).body["known"]
        assert (await call).body["outcome"] == "cancelled"
        await client.cleaned_up()
        asked = client.backends[0].requests
        await asyncio.sleep(0.3)
        assert client.backends[0].requests == asked


@pytest.mark.parametrize("status", [401, 403, 404, 422])
async def test_the_reason_of_a_refusal_reaches_the_caller_after_one_call(serving, status):
    async with serving(wire="prorl") as client:
        client.backends[0].faults.always = Fault("status", status=status, text="invalid key")
        body = (await client.process()).body
        assert (body["outcome"], body["failure"]["code"]) == ("infra_error", "backend_refused")
        assert str(status) in body["error"] and "invalid key" in body["error"]
        assert client.backends[0].requests == 1


async def test_a_backend_that_never_answers_ends_with_the_job(serving):
    async with serving() as client:
        client.backends[0].faults.always = "hang"
        body = (await client.process(limits={"run_seconds": 0.2, "collect_seconds": 0.1})).body
        assert body["outcome"] in ("timeout", "model_limit") and body["reward"] in (None, 1.0)
        await client.backends[0].wait_disconnects(1)


async def test_garbage_is_a_broken_contract_and_never_a_reward(serving):
    async with serving() as client:
        for kind in GARBAGE:
            client.backends[0].faults.always = kind
            body = (await client.process(limits={"infra_retries": 0})).body
            assert (body["outcome"], body["reward"], body["trainable"]) == ("infra_error", None, False), kind
            assert body["failure"]["code"] == "backend_contract"
        client.backends[0].faults.always = None
        assert (await client.process()).body["outcome"] == "scored"


async def test_an_endless_answer_is_cut_off(serving):
    async with serving() as client:
        client.backends[0].faults.always = "endless"
        body = (await client.process(limits={"infra_retries": 0})).body
        assert (body["outcome"], body["failure"]["code"]) == ("infra_error", "backend_contract")
        assert "larger than" in body["error"]


async def test_pools_are_kept_apart_from_end_to_end(serving):
    async with serving(backends=2, register=False) as client:
        for name, backend in zip("ab", client.backends, strict=True):
            await client.post("/backends", {"address": backend.address, "pool": name})
        for name, backend in zip("ab", client.backends, strict=True):
            body = {"instance": {"data_source": "steps"}, "pool": name}
            answer = (await client.post("/process", body)).body
            assert answer["pool"] == name and places(answer)[0][0] == backend.address
        refused = await client.post("/process", {"instance": {"data_source": "steps"}, "pool": "c"})
        assert (refused.status, refused.body["code"]) == (503, "no_backend")
