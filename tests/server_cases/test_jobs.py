"""What a client meets when jobs fail, hang, are cancelled, repeated or sent by the thousand."""

import asyncio
import random
from collections import Counter

import pytest


async def test_a_job_goes_through_and_again_gives_its_stored_result(serving):
    async with serving() as client:
        first, second = await client.process(job_id="j1"), await client.process(job_id="j1")
        assert (first.status, first.body["outcome"], first.body["reward"]) == (200, "scored", 1.0)
        assert first.body["messages"] and second.body == first.body and client.backends[0].requests == 1


async def test_an_unknown_source_is_refused_with_the_known_ones(serving):
    async with serving() as client:
        answer = await client.process("nope")
        assert answer.status == 400 and "nope" in answer.body["detail"] and "steps" in answer.body["detail"]


@pytest.mark.parametrize(
    "raw", [b'{"a":', b"", b"[" * 100_000, b"\xff\xfe", b"null", b"[]", b'{"instance": 1}', b'{"instance": {}, "x": 1}']
)
async def test_a_body_of_no_use_is_refused_and_the_server_lives(serving, raw):
    async with serving() as client:
        answer = await client.call("POST", "/process", data=raw, headers={"Content-Type": "application/json"})
        assert answer.status in (400, 413, 422) and answer.body["detail"]
        assert (await client.call("POST", "/process", data=raw, headers={"Content-Type": "text/plain"})).status == 400
        assert (await client.process()).body["outcome"] == "scored"


async def test_a_huge_body_is_refused(serving):
    async with serving(max_body_bytes=100_000) as client:
        raw = b'{"instance": {"text": "' + b"x" * 300_000 + b'"}}'
        answer = await client.call("POST", "/process", data=raw, headers={"Content-Type": "application/json"})
        assert answer.status == 413
        assert (await client.process()).body["outcome"] == "scored"


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
@pytest.mark.parametrize("what", ["ever", "stubborn"])
async def test_a_cancel_answers_at_once_in_each_stage_and_frees_all(serving, stage, what):
    pools = {"init_workers": 1, "run_workers": 1, "eval_workers": 1}
    async with serving(**pools) as client:
        call = client.start(job_id="j", **{stage: what})
        await client.until(lambda s: s[stage] == 1)
        assert (await client.post("/cancel", {"job_id": "j"})).body["known"]
        body = (await call).body
        assert (body["outcome"], body["reward"], body["critical_error"]) == ("cancelled", None, "cancelled")
        assert (await client.process()).body["outcome"] == "scored"
        await client.cleaned_up()
        assert (await client.process(job_id="j")).body["outcome"] == "scored"


async def test_cancel_of_an_unknown_empty_or_missing_id_harms_nothing(serving):
    async with serving() as client:
        for body, status in (({"job_id": "nope"}, 200), ({"job_id": ""}, 422), ({}, 422)):
            assert (await client.post("/cancel", body)).status == status
        assert (await client.process(job_id="nope")).body["outcome"] == "scored"


async def test_two_cancels_and_a_completion_at_once_leave_one_answer(serving):
    async with serving() as client:
        rng = random.Random(3)

        async def race(n):
            call = client.start(job_id=f"j{n}")
            await asyncio.sleep(rng.random() * 0.05)
            await asyncio.gather(*(client.post("/cancel", {"job_id": f"j{n}"}) for _ in range(2)))
            return (await call).body["outcome"]

        outcomes = Counter(await asyncio.gather(*(race(n) for n in range(60))))
        assert sum(outcomes.values()) == 60 and set(outcomes) <= {"scored", "cancelled"}
        assert (await client.status())["finished"] == 60


async def test_when_all_clients_go_away_everything_is_taken_back(serving):
    async with serving(init_workers=64, run_workers=64, handover=64) as client:
        calls = [client.start(run="ever") for _ in range(150)]
        await client.until(lambda s: s["run"] == 64)
        for call in calls:
            call.cancel()
        await client.cleaned_up()
        assert (await client.process()).body["outcome"] == "scored"


async def test_time_in_a_queue_does_not_count(serving):
    async with serving(run_workers=1) as client:
        limits = {"run_seconds": 0.6, "total_seconds": 0.6}
        answers = await asyncio.gather(*(client.process(run=0.2, limits=limits) for _ in range(5)))
        assert {answer.body["outcome"] for answer in answers} == {"scored"}
        assert max(answer.body["timing"]["permit_wait"] for answer in answers) >= 0.6


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
async def test_a_stage_that_raises_is_told_with_its_stage_and_type(serving, stage):
    async with serving() as client:
        body = (await client.process(**{stage: "raise"})).body
        assert (body["outcome"], body["reward"], body["critical_error"]) == ("task_error", None, stage)
        assert "RuntimeError" in body["error"] and body["failure"]["traceback"]
        assert (await client.process()).body["outcome"] == "scored"


async def test_a_hook_that_raises_too_is_told_beside_the_first_error(serving):
    async with serving() as client:
        failure = (await client.process(run="raise", hook="raise")).body["failure"]
        assert "run went wrong" in failure["message"] and "the hook went wrong too" in failure["also"][0]


@pytest.mark.parametrize("odd", ["set", "bytes", "cycle", "path", "error", "surrogate", "nan", "object", "coroutine"])
async def test_a_submission_that_is_no_plain_data_is_a_fault_of_the_task(serving, odd):
    async with serving() as client:
        body = (await client.process(returns=odd)).body
        assert (body["outcome"], body["failure"]["code"], body["reward"]) == ("task_error", "bad_return", None)


async def test_a_grade_of_nothing_is_a_fault_of_the_task(serving):
    async with serving() as client:
        body = (await client.process(grades="nothing")).body
        assert (body["outcome"], body["failure"]["code"]) == ("task_error", "bad_return")


@pytest.mark.parametrize("reward", [1.5, -0.5])
async def test_a_reward_out_of_range_passes_only_where_the_range_is_declared(serving, reward):
    async with serving() as client:
        body = (await client.process(reward=reward)).body
        assert (body["outcome"], body["reward"]) == ("task_error", None)
        assert (await client.process(reward=reward, range=[-1, 2])).body["reward"] == reward


async def test_hung_jobs_end_by_their_limit_and_starve_nobody(serving):
    async with serving(init_workers=32, run_workers=32, handover=32) as client:
        limits = {"run_seconds": 0.5, "collect_seconds": 0.1}
        calls = [client.start(run="stubborn" if n % 6 == 0 else 0, limits=limits) for n in range(64)]
        outcomes = Counter([(await call).body["outcome"] for call in calls])
        assert outcomes == {"scored": 53, "timeout": 11}
        await client.cleaned_up()
        assert (await client.status())["run"] == 0


async def test_one_bad_sample_does_not_take_down_a_batch(serving):
    async with serving() as client:
        calls = [client.start(returns="cycle" if n == 17 else None) for n in range(60)]
        outcomes = Counter([(await call).body["outcome"] for call in calls])
        assert outcomes == {"scored": 59, "task_error": 1}


async def test_a_grader_that_lost_its_sandbox_gives_no_reward(serving):
    async with serving() as client:
        body = (await client.process(eval="lost")).body
        assert (body["outcome"], body["reward"], body["critical_error"]) == ("infra_error", None, "eval")


async def test_a_full_disk_is_told(serving):
    async with serving() as client:
        body = (await client.process(run="full")).body
        assert body["outcome"] in ("task_error", "infra_error") and "space" in body["error"]
        assert (await client.process()).body["outcome"] == "scored"


async def test_stop_answers_every_waiting_request_and_refuses_new_ones(serving):
    async with serving(init_workers=64, run_workers=64, handover=64) as client:
        calls = [client.start(job_id=f"j{n}", run="ever") for n in range(50)]
        await client.until(lambda s: s["run"] == 50)
        assert (await client.post("/stop")).body["status"] == "stopped"
        assert {(await call).body["outcome"] for call in calls} == {"cancelled"}
        answer = await client.process()
        assert answer.status == 503 and "start" in answer.body["detail"]
        for path in ("/stop", "/start", "/start"):
            assert (await client.post(path)).status == 200
        assert (await client.process()).body["outcome"] == "scored"


async def test_hundreds_at_once_are_all_answered_within_the_permits_and_the_status_adds_up(serving):
    async with serving(init_workers=8, run_workers=8, eval_workers=8) as client:
        calls = [client.start(job_id=f"j{n}") for n in range(300)]
        while not all(call.done() for call in calls):
            status = await client.status()
            assert max(status["init"], status["run"], status["eval"]) <= 8
            assert status["queued"] + status["in_progress"] + status["finished"] == status["accepted"] <= 300
            await asyncio.sleep(0.05)
        assert Counter(call.result().body["outcome"] for call in calls) == {"scored": 300}


async def test_made_ids_are_unique_and_odd_ones_are_harmless(serving):
    async with serving() as client:
        answers = await asyncio.gather(*(client.process() for _ in range(100)))
        assert len({answer.body["job_id"] for answer in answers}) == 100
        for odd in ("żółć 中", "../../etc/x", "a/b", "%2e%2e%2f", ".."):
            assert (await client.process(job_id=odd)).body["job_id"] == odd
        for bad in ("x" * 10_000, "a\0b", 17, " \n"):
            assert (await client.process(job_id=bad)).status in (400, 422)


async def test_a_broken_plugin_is_named_and_the_others_work(serving, tmp_path):
    broken = tmp_path / "broken_one.py"
    broken.write_text("raise ImportError('no such thing')\n")
    async with serving(plugins=(str(broken),)) as client:
        assert (await client.process()).body["outcome"] == "scored"
        reports = (await client.status())["plugins"]
        assert any("broken_one" in str(report) and "no such thing" in str(report) for report in reports)


async def test_a_lost_connection_can_be_taken_up_again(serving):
    async with serving() as client:
        call = client.start(job_id="long", run=0.3)
        await client.until(lambda s: s["run"] == 1)
        call.cancel()
        assert (await client.process(job_id="long", run=0.3)).body["outcome"] == "scored"
        assert client.backends[0].requests == 1


async def test_two_services_on_one_machine_share_nothing(serving):
    async with serving() as one, serving() as other:
        answers = await asyncio.gather(*(c.process(job_id="same") for c in (one, other) for _ in range(2)))
        assert {answer.body["outcome"] for answer in answers} == {"scored"}
        assert (one.backends[0].requests, other.backends[0].requests) == (1, 1)
