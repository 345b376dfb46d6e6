"""A caller that leaves: its job ends with it, unless the caller gave it a name."""

import asyncio

import aiohttp
import pytest


async def _leave(server, body, place, query=""):
    """Post a body over a connection of its own, wait until the job is at `place`, and cut the line."""
    async with aiohttp.ClientSession() as session:
        call = asyncio.create_task(_post(session, f"{server.url}/process{query}", body))
        if "job_id" in body:
            await server.watcher.reached(body["job_id"], place)
        while (await server.caller.get("/status")).body["run"] != 1:
            continue
        call.cancel()


async def _post(session, url, body):
    async with session.post(url, json=body) as response:
        await response.read()


def _body(**more):
    return {"instance": {"data_source": "endless"}, **more}


async def _jobs(server):
    return (await server.caller.get("/status")).body["jobs"]


async def test_a_job_without_an_id_ends_when_its_caller_leaves(server):
    await _leave(server, _body(), "turn 0")
    while await _jobs(server):
        continue
    assert server.gateway.records.finished_total == 1
    [record] = server.gateway.records.finished.values()
    assert record.result.outcome == "cancelled"


async def test_a_named_job_goes_on_and_can_be_joined(server):
    body = _body(job_id="j1")
    await _leave(server, body, "turn 0")
    call = asyncio.create_task(server.caller.post("/process", body))
    assert await _jobs(server) == 1
    await server.caller.post("/cancel", {"job_id": "j1"})
    assert (await call).body["outcome"] == "cancelled"


async def test_a_result_can_be_fetched_after_the_line_was_lost(server, backend):
    backend.faults.latency_seconds = 0.05
    body = {"instance": {"data_source": "echo"}, "job_id": "j1"}
    await _leave(server, body, "run running")
    answer = await server.caller.post("/process", body)
    assert answer.body["outcome"] == "scored"
    assert backend.requests == 2


@pytest.mark.parametrize("query", ["", "?heartbeat=0.02"])
async def test_a_named_job_ends_with_its_caller_where_that_is_asked_for(server, query):
    await _leave(server, _body(job_id="j1", on_disconnect="cancel"), "turn 0", query)
    while await _jobs(server):
        continue
    assert server.gateway.records.get("j1").result.outcome == "cancelled"


async def test_an_unnamed_job_goes_on_where_that_is_asked_for(server):
    await _leave(server, _body(on_disconnect="continue"), "turn 0")
    assert await _jobs(server) == 1


async def test_one_of_two_callers_may_leave_without_ending_the_job(server):
    body = _body(job_id="j1", on_disconnect="cancel")
    stays = asyncio.create_task(server.caller.post("/process", body))
    await server.watcher.reached("j1", "turn 0")
    async with aiohttp.ClientSession() as session:
        leaves = await session.post(f"{server.url}/process?heartbeat=0.02", json=body)
        assert await leaves.content.readexactly(1) == b" "
    assert await _jobs(server) == 1
    await server.caller.post("/cancel", {"job_id": "j1"})
    assert (await stays).body["outcome"] == "cancelled"


async def test_a_hundred_callers_that_leave_at_once_leave_nothing(server, caplog):
    async with aiohttp.ClientSession() as session:
        calls = [asyncio.create_task(_post(session, f"{server.url}/process", _body())) for _ in range(100)]
        while await _jobs(server) < 100:
            continue
        for call in calls:
            call.cancel()
    while await _jobs(server):
        continue
    status = (await server.caller.get("/status")).body
    assert (status["finished"], status["leases"]["held"]) == (100, 0)
    assert "Traceback" not in caplog.text
    assert (await server.caller.process()).body["outcome"] == "scored"


async def test_a_caller_that_leaves_within_its_body_harms_nobody(server, caplog):
    _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    head = b"POST /process HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    writer.write(head)
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await server.caller.process()).body["outcome"] == "scored"
    assert "Traceback" not in caplog.text
