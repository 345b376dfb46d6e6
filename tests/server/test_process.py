"""/process: one rollout, one answer, in ProRL's words and ours."""

import asyncio
import json

UPSTREAM_KEYS = {
    "instance_id",
    "trajectory_id",
    "success",
    "error",
    "finish",
    "messages",
    "tools",
    "end_properly",
    "resolved",
    "critical_error",
    "filter",
    "timing",
}
UPSTREAM_TIMING = {"init_time", "run_time", "eval_time", "others_time", "counted_elapsed", "timeout_triggered"}
OURS = {
    "job_id",
    "outcome",
    "reward",
    "accuracy",
    "trainable",
    "mask_reason",
    "failure",
    "reward_parts",
    "policy_version",
    "usage",
    "attempt",
    "sandbox",
    "sampling",
    "data_source",
    "segments",
    "schema",
}


async def test_the_answer_has_upstreams_keys_and_ours(caller):
    answer = await caller.process(job_id="j1")
    body = answer.body
    assert answer.status == 200
    assert set(body) >= UPSTREAM_KEYS | OURS
    assert set(body["timing"]) >= UPSTREAM_TIMING
    assert (body["job_id"], body["instance_id"], body["trajectory_id"]) == ("j1", "i1", 0)
    assert (body["outcome"], body["reward"], body["resolved"]) == ("scored", 1.0, True)
    assert (body["success"], body["error"], body["critical_error"], body["filter"]) == (True, None, None, False)
    assert (body["end_properly"], body["finish"], "git_patch" in body) == (True, False, False)


async def test_ids_of_the_messages_joined_are_what_was_sent_and_sampled(caller, backend):
    body = (await caller.process()).body
    last = backend.calls[-1]
    joined = [token for message in body["messages"] for token in message["token_ids"]]
    assert joined == [*last.prompt_ids, *last.response_ids]
    assert joined == body["segments"][0]["token_ids"][: len(joined)]


async def test_only_replies_carry_logprobs_and_trailing_messages_are_cut(caller):
    messages = (await caller.process()).body["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "user", "assistant"]
    assert [len(m["token_ids"]) > 0 for m in messages] == [True, False, True, True, False, True]
    for message in messages:
        is_reply = message["role"] == "assistant"
        assert (message["logprobs"] is not None) == is_reply
        assert not is_reply or len(message["logprobs"]) == len(message["token_ids"])
        assert message["input_ids"] is None


async def test_whole_prompts_come_only_when_asked_for(caller, backend):
    body = (await caller.process(query="?compat=full")).body
    prompts = [m["input_ids"] for m in body["messages"] if m["role"] == "assistant"]
    assert prompts == [list(call.prompt_ids) for call in backend.calls]
    assert all(m["input_ids"] is None for m in body["messages"] if m["role"] != "assistant")


async def test_two_chats_show_the_last_one_and_keep_both_in_segments(caller, backend):
    body = (await caller.process("two_chats")).body
    joined = [token for message in body["messages"] for token in message["token_ids"]]
    assert (len(body["segments"]), body["shown_segment"]) == (2, 1)
    assert joined == body["segments"][1]["token_ids"]
    assert [m["content"] for m in body["messages"] if m["token_ids"]] == ["two", "no"]


async def test_a_patch_stands_where_upstream_has_it(caller):
    assert (await caller.process("patch")).body["git_patch"] == "diff"


async def test_a_plugin_that_adds_what_json_cannot_hold_does_not_fail_the_call(caller):
    answer = await caller.process("odd")
    assert (answer.status, answer.body["outcome"]) == (200, "scored")
    assert "raas_final_result" in answer.body["extra"]["final_result_error"]


async def test_a_failure_has_no_reward_and_names_its_stage(caller):
    body = (await caller.process("ungraded")).body
    assert (body["outcome"], body["reward"], body["resolved"]) == ("task_error", None, False)
    assert (body["critical_error"], body["filter"], body["trainable"]) == ("eval", True, False)
    assert "the grader is out" in body["error"]
    assert body["failure"]["stage"] == "eval"
    assert body["messages"][-1]["role"] == "assistant"


async def test_missing_logprobs_are_null_and_never_zero(run_server, backend):
    backend.faults.always = "no_logprobs"
    async with run_server(backend=(backend.address,)) as server:
        body = (await server.caller.process(limits={"infra_retries": 0})).body
    values = [m["logprobs"] for m in body["messages"] if m["role"] == "assistant"]
    assert not body["trainable"]
    assert all(value is None for row in values for value in row or ())


async def test_a_used_up_limit_is_no_critical_error(caller):
    body = (await caller.process(sampling_params={"max_iterations": 1})).body
    assert (body["outcome"], body["critical_error"]) == ("model_limit", None)
    assert body["timing"]["timeout_triggered"] is False


async def test_a_timeout_says_so(caller):
    body = (await caller.process("endless_init", limits={"init_seconds": 0.05})).body
    assert (body["outcome"], body["critical_error"], body["timing"]["timeout_triggered"]) == (
        "timeout",
        "timeout",
        True,
    )
    assert body["reward"] is None


async def test_a_heartbeat_is_white_space_before_the_json(server):
    call = asyncio.create_task(server.caller.process("endless", query="?heartbeat=0.02", job_id="slow"))
    await server.watcher.reached("slow", "turn 0")
    async with server.caller.session.post(
        f"{server.url}/process?heartbeat=0.02", json={"instance": {"data_source": "endless"}, "job_id": "beat"}
    ) as response:
        assert (response.status, await response.content.readexactly(2)) == (200, b"  ")
        for job_id in ("beat", "slow"):
            await server.caller.post("/cancel", {"job_id": job_id})
        rest = await response.read()
    assert json.loads(rest)["outcome"] == "cancelled"
    assert (await call).body["outcome"] == "cancelled"


async def test_the_same_body_again_joins_the_job_or_gets_its_stored_result(server, backend):
    calls = [asyncio.create_task(server.caller.process("endless", job_id="j1")) for _ in range(3)]
    await server.watcher.reached("j1", "turn 0")
    await server.caller.post("/cancel", {"job_id": "j1"})
    assert [(await call).body["outcome"] for call in calls] == ["cancelled"] * 3
    first = await server.caller.process(job_id="j2")
    requests = backend.requests
    second = await server.caller.process(job_id="j2")
    assert first.body == second.body
    assert backend.requests == requests


async def test_jobs_without_an_id_get_different_ones(caller):
    answers = await asyncio.gather(*(caller.process() for _ in range(50)))
    assert len({answer.body["job_id"] for answer in answers}) == 50


async def test_odd_job_ids_work_or_are_refused(caller):
    good = ["żółć 中", "../../etc/x", "a/b", "%2e%2e%2f", ".."]
    for job_id in good:
        answer = await caller.process(job_id=job_id)
        assert (answer.status, answer.body["job_id"]) == (200, job_id)
    for job_id in ("x" * 10_000, "a\0b", "a\nb", 17, "", []):
        answer = await caller.process(job_id=job_id)
        assert (answer.status, answer.body["code"]) == (400, "bad_request")


async def test_two_hundred_callers_at_once_get_two_hundred_answers(run_server, backend):
    async with run_server(backend=(backend.address,), init_workers=4, run_workers=16, eval_workers=4) as server:
        calls = [asyncio.create_task(server.caller.process(sample_index=number)) for number in range(200)]
        while not all(call.done() for call in calls):
            status = (await server.caller.get("/status")).body
            assert status["jobs"] + status["finished"] <= 200
            assert status["init"] <= 4 and status["run"] <= 16 and status["eval"] <= 4
        bodies = [call.result().body for call in calls]
    assert {body["outcome"] for body in bodies} == {"scored"}
    assert sorted(body["sample_index"] for body in bodies) == list(range(200))
