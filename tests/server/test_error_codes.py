"""Every refusal has its status, a stable code and a sentence, and the service lives on."""

import asyncio
import json

import aiohttp

from raas_sdk.server.answers import encode_json
from raas_sdk.server.backstop import Backstop

BAD_BODIES = [
    (b'{"a":', "application/json"),
    (b"", "application/json"),
    (b"hello", "text/plain"),
    (b'{"instance": {"data_source": "echo"}}', "text/plain"),
    (b"[" * 100_000, "application/json"),
    (b"\xff\xfe", "application/json"),
    (b"[1]", "application/json"),
    (b'{"instance": 5}', "application/json"),
    (b'{"instance": {}}', "application/json"),
    (b'{"instance": {"data_source": "echo"}, "colour": "red"}', "application/json"),
    (b'{"instance": {"data_source": "echo"}, "on_disconnect": "shrug"}', "application/json"),
    (b'{"instance": {"data_source": "echo"}, "on_disconnect": []}', "application/json"),
    (b'{"instance": {"data_source": "echo"}, "sample_index": -1}', "application/json"),
    (b'{"instance": {"data_source": "echo"}, "sampling_params": {"x": 1e999}}', "application/json"),
]


def refused(answer, status, code):
    assert (answer.status, answer.body["code"]) == (status, code), answer.body
    assert set(answer.body) == {"detail", "code"}
    assert "Traceback" not in answer.body["detail"]
    return answer.body["detail"]


async def test_a_bad_body_is_400_and_the_server_lives(caller):
    for content, kind in BAD_BODIES:
        answer = await caller.post("/process", data=content, headers={"Content-Type": kind})
        assert answer.status == 400, content[:80]
        assert set(answer.body) == {"detail", "code"}
    assert (await caller.process()).status == 200


async def test_an_unknown_source_is_400_with_the_known_ones_and_the_closest(caller):
    detail = refused(await caller.process("ecco"), 400, "unknown_source")
    assert "did you mean 'echo'" in detail
    assert "patch" in detail


async def test_bad_sampling_is_422(caller):
    for params in ({"temprature": 1}, {"temperature": -1}, {"top_p": "x"}, {"max_turns": 0}, []):
        refused(await caller.process(sampling_params=params), 422, "bad_sampling")


async def test_an_unknown_route_is_404_and_a_wrong_method_405(caller):
    refused(await caller.get("/nope"), 404, "no_such_route")
    refused(await caller.get("/process"), 405, "method_not_allowed")


async def test_an_id_with_another_body_is_409(caller):
    await caller.process(job_id="j1")
    detail = refused(await caller.process("patch", job_id="j1"), 409, "job_conflict")
    assert "'j1'" in detail


async def test_bad_query_parameters_are_422(caller):
    refused(await caller.process(query="?heartbeat=0"), 422, "bad_parameter")
    refused(await caller.process(query="?compat=half"), 422, "bad_parameter")


async def test_a_body_over_the_limit_is_413_whether_or_not_it_says_its_size(run_server, backend):
    async with run_server(backend=(backend.address,), max_body_bytes=2**20) as server:
        headers = {"Content-Type": "application/json"}
        refused(await server.caller.post("/process", data=b"x" * 3 * 2**20, headers=headers), 413, "body_too_large")
        refused(await server.caller.post("/process", data=_pieces(48), headers=headers), 413, "body_too_large")
        await _refused_endless(server, headers)
        assert (await server.caller.process()).status == 200


async def _refused_endless(server, headers):
    """The server cuts the line; whether its answer is still read depends on who is quicker."""
    try:
        answer = await server.caller.post("/process", data=_pieces(10_000), headers=headers)
    except aiohttp.ClientError:
        return
    assert answer.status == 413


async def _pieces(count):
    for _ in range(count):
        yield b"x" * 2**16


async def test_a_full_queue_is_429_and_says_when_to_come_again(run_server, backend):
    async with run_server(
        backend=(backend.address,), init_workers=1, run_workers=1, handover=1, max_queued_jobs=1
    ) as server:
        first = asyncio.create_task(server.caller.process("endless_init", job_id="j1"))
        await server.watcher.reached("j1", "init running")
        second = asyncio.create_task(server.caller.process("endless_init", job_id="j2"))
        while (await server.caller.get("/status")).body["queued"] != 1:
            continue
        answer = await server.caller.process(job_id="j3")
        refused(answer, 429, "queue_full")
        assert int(answer.headers["Retry-After"]) > 0
        await server.caller.post("/stop")
        assert [(await call).body["outcome"] for call in (first, second)] == ["cancelled", "cancelled"]


async def test_no_backend_is_503_at_once(run_server):
    async with run_server() as server:
        answer = await server.caller.process()
        assert "/add_llm_server" in refused(answer, 503, "no_backend")
        assert "Retry-After" in answer.headers


async def test_a_stopped_service_is_503(caller):
    await caller.post("/stop")
    assert "/start" in refused(await caller.process(), 503, "not_started")


async def test_a_plugin_that_could_not_start_is_503_and_the_others_work(run_server, backend, tmp_path):
    broken = tmp_path / "unlucky.py"
    broken.write_text(
        "from raas_sdk import hookimpl\n"
        "@hookimpl\ndef raas_data_sources(): return ['unlucky']\n"
        "@hookimpl\nasync def raas_startup(host): raise RuntimeError('no licence')\n"
        "@hookimpl\nasync def raas_run(job): return {}\n"
        "@hookimpl\nasync def raas_eval(job): return None\n"
    )
    async with run_server(backend=(backend.address,), more_plugins=(str(broken),)) as server:
        detail = refused(await server.caller.process("unlucky"), 503, "plugin_unavailable")
        assert "no licence" in detail
        assert (await server.caller.process()).status == 200
        assert (await server.caller.get("/status")).body["unavailable"].keys() == {"unlucky"}


async def test_a_fault_of_ours_is_500_without_its_traceback(caplog):
    async def faulty(scope, receive, send):
        raise ZeroDivisionError("a secret detail")

    sent = []

    async def send(message):
        sent.append(message)

    await Backstop(faulty)({"type": "http", "path": "/x"}, None, send)
    body = json.loads(sent[1]["body"])
    assert (sent[0]["status"], body["code"], "secret" in body["detail"]) == (500, "internal", False)
    assert "a secret detail" in caplog.text


def test_anything_can_be_encoded():
    odd = {"a": float("nan"), (1, 2): {3}, "b": "half \ud800", "c": object, "d": b"x", "e": 2**80}
    encoded = encode_json(odd).decode()
    assert '"a":null' in encoded
    assert "(1, 2)" in encoded
    assert "half \ufffd" in encoded
    assert str(2**80) in encoded
