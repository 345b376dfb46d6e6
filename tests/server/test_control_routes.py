"""The control routes: idempotent, and right where upstream's were not."""

import asyncio


async def test_start_and_stop_are_idempotent(caller):
    for path in ("/start", "/start", "/stop", "/stop", "/start"):
        answer = await caller.post(path)
        assert answer.status == 200
        assert isinstance(answer.body["status"], str)
    assert (await caller.process()).body["outcome"] == "scored"


async def test_status_is_503_with_the_same_body_while_stopped(caller):
    running = await caller.get("/status")
    await caller.post("/stop")
    stopped = await caller.get("/status")
    assert (running.status, running.body["status"], running.body["running"]) == (200, "running", True)
    assert (stopped.status, stopped.body["status"], stopped.body["running"]) == (503, "stopped", False)
    assert set(stopped.body) == set(running.body) | {"detail", "code"}


async def test_stop_cancels_every_job_and_answers_its_caller(server):
    sources = ["endless"] * 10 + ["endless_init"] * 10 + ["endless_eval"] * 10
    calls = [asyncio.create_task(server.caller.process(s, job_id=f"j{n}")) for n, s in enumerate(sources)]
    while (await server.caller.get("/status")).body["jobs"] < 30:
        continue
    await server.watcher.reached("j0", "turn 0")
    assert (await server.caller.post("/stop")).body["status"] == "stopped"
    answers = [await call for call in calls]
    assert {(a.status, a.body["outcome"], a.body["critical_error"]) for a in answers} == {
        (200, "cancelled", "cancelled")
    }
    status = (await server.caller.get("/status")).body
    assert (status["jobs"], status["leases"]["held"], status["leases"]["waiting"]) == (0, 0, 0)


async def test_a_job_is_cancelled_in_each_stage(server):
    for source, place in [("endless_init", "init running"), ("endless", "turn 0"), ("endless_eval", "eval running")]:
        call = asyncio.create_task(server.caller.process(source, job_id=source))
        await server.watcher.reached(source, place)
        answer = await server.caller.post("/cancel", {"job_id": source})
        assert (answer.status, answer.body["known"]) == (200, True)
        assert source in answer.body["status"]
        body = (await call).body
        assert (body["outcome"], body["reward"], body["critical_error"]) == ("cancelled", None, "cancelled")
    assert (await server.caller.process()).body["outcome"] == "scored"


async def test_cancelling_an_unknown_id_is_200_and_harms_no_later_job(caller):
    answer = await caller.post("/cancel", {"job_id": "nope"})
    assert (answer.status, answer.body["known"]) == (200, False)
    assert (await caller.process(job_id="nope")).body["outcome"] == "scored"
    again = await caller.post("/cancel", {"job_id": "nope"})
    assert (again.status, again.body["known"]) == (200, False)


async def test_an_empty_or_missing_id_to_cancel_is_422(caller):
    for body in ({"job_id": ""}, {}, {"job_id": 5}, [], "x"):
        answer = await caller.post("/cancel", body)
        assert (answer.status, answer.body["code"]) == (422, "bad_body")


async def test_both_forms_of_an_address_name_one_backend(caller, backend):
    for address in (backend.address, backend.address + "/v1"):
        answer = await caller.post("/add_llm_server", {"address": address, "weight": 2.0, "version": 3})
        assert (answer.status, answer.body["address"], answer.body["version"]) == (200, backend.address, 3)
    rows = (await caller.get("/backends")).body["backends"]
    assert [(row["address"], row["weight"]) for row in rows] == [(backend.address, 2.0)]


async def test_an_unreachable_backend_is_accepted_and_kept(run_server):
    async with run_server() as server:
        answer = await server.caller.post("/backends", {"address": "http://127.0.0.1:9", "pool": "judges"})
        assert (answer.status, answer.body["pool"], answer.body["wire"]) == (200, "judges", None)


async def test_a_bad_backend_is_422(caller):
    bad = [{}, {"address": ""}, {"address": "host:80"}, {"address": "http://h", "weight": 0}]
    bad += [{"address": "http://h", "wire": "telepathy"}, {"address": "http://h", "version": "x"}, {"address": 5}]
    for body in bad:
        assert (await caller.post("/add_llm_server", body)).status == 422


async def test_a_backend_registered_while_stopped_serves_after_start(run_server, backend):
    async with run_server() as server:
        await server.caller.post("/stop")
        assert (await server.caller.post("/add_llm_server", {"address": backend.address})).status == 200
        await server.caller.post("/start")
        assert (await server.caller.process()).body["outcome"] == "scored"


async def test_cleared_backends_take_no_new_jobs(caller):
    assert (await caller.post("/clear_llm_server")).body["count"] == 1
    assert (await caller.process()).status == 503


async def test_one_backend_is_taken_out_by_its_id(caller, backend):
    (row,) = (await caller.get("/backends")).body["backends"]
    assert (await caller.call("DELETE", "/backends/b99")).status == 404
    assert (await caller.call("DELETE", f"/backends/{row['id']}?mode=later")).status == 422
    gone = await caller.call("DELETE", f"/backends/{row['id']}?mode=now")
    assert (gone.status, gone.body["draining"]) == (200, False)
    assert (await caller.get("/backends")).body["backends"] == []


async def test_a_backend_that_drains_goes_with_its_last_job(server):
    call = asyncio.create_task(server.caller.process("endless", job_id="j"))
    await server.watcher.reached("j", "turn 0")
    (row,) = (await server.caller.get("/backends")).body["backends"]
    answer = await server.caller.call("DELETE", f"/backends/{row['id']}")
    assert (answer.status, answer.body["draining"]) == (200, True)
    await server.caller.post("/cancel", {"job_id": "j"})
    assert (await call).body["outcome"] == "cancelled"
    assert (await server.caller.get("/backends")).body["backends"] == []


async def test_backends_are_cleared_by_pool(server, backend):
    await server.caller.post("/backends", {"address": backend.address, "pool": "judges"})
    assert (await server.caller.post("/clear_llm_server?pool=judges")).body["count"] == 1
    rows = (await server.caller.get("/backends")).body["backends"]
    assert [row["pool"] for row in rows] == ["default"]


async def test_stored_results_are_answered_while_stopped(caller):
    first = await caller.process(job_id="j1")
    await caller.post("/stop")
    assert (await caller.process(job_id="j1")).body == first.body
    refused = await caller.process(job_id="j2")
    assert (refused.status, refused.body["code"]) == (503, "not_started")


async def test_health_and_readiness(run_server, backend):
    async with run_server() as server:
        assert (await server.caller.get("/healthz")).status == 200
        assert (await server.caller.get("/readyz")).body["code"] == "not_ready"
        await server.caller.post("/add_llm_server", {"address": backend.address})
        assert (await server.caller.get("/readyz")).status == 200
        await server.caller.post("/stop")
        assert (await server.caller.get("/readyz")).status == 503


async def test_the_api_describes_itself(caller):
    paths = (await caller.get("/openapi.json")).body["paths"]
    routes = {"/start", "/stop", "/process", "/cancel", "/add_llm_server", "/clear_llm_server", "/status"}
    assert routes < set(paths)
    fields = paths["/process"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert set(fields) >= {"instance", "sampling_params", "job_id", "on_disconnect"}
    assert (await caller.get("/docs")).status == 200
