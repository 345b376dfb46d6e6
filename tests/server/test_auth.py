"""Who may call."""

import pytest

from raas_sdk.errors import SettingsInvalid
from raas_sdk.server import serve
from raas_sdk.server.auth import is_loopback, require_token_beyond_loopback
from raas_sdk.settings import load_settings

TOKEN = {"Authorization": "Bearer s3cret"}


async def test_a_token_is_asked_for_everywhere_but_on_healthz(run_server):
    async with run_server(token="s3cret") as server:
        assert (await server.caller.get("/healthz")).status == 200
        for path in ("/status", "/docs", "/openapi.json", "/nope"):
            answer = await server.caller.get(path)
            assert (answer.status, answer.body["code"]) == (401, "unauthorized")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert (await server.caller.get("/status", headers=TOKEN)).status == 200


async def test_a_wrong_token_is_refused(run_server):
    async with run_server(token="s3cret") as server:
        for given in ("s3cret", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "Bearer ünicode", ""):
            assert (await server.caller.get("/status", headers={"Authorization": given})).status == 401


async def test_a_web_page_of_another_origin_may_not_call_an_open_service(run_server):
    async with run_server() as server:
        foreign = await server.caller.post("/stop", headers={"Origin": "https://evil.example"})
        own = await server.caller.post("/stop", headers={"Origin": server.url})
        assert (foreign.status, foreign.body["code"], own.status) == (403, "foreign_origin", 200)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "node7"])
def test_beyond_loopback_a_token_is_required(host):
    settings = load_settings({"host": host}, environ={})
    with pytest.raises(SettingsInvalid, match="--token"):
        serve(settings)
    require_token_beyond_loopback(load_settings({"host": host, "token": "x"}, environ={}))


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("1.1.1.1", False)]
)
def test_loopback_is_recognised(host, local):
    assert is_loopback(host) is local
