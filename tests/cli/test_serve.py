"""`raas serve` as a process: it says where it is, and leaves nothing behind."""

import asyncio
import signal

import aiohttp
import pytest

ENDLESS = {"instance": {"data_source": "endless"}}


async def _post(session, url, body):
    async with session.post(f"{url}/process", json=body) as response:
        return response.status, await response.json()


async def _until_run(session, url, count):
    while True:
        async with session.get(f"{url}/status") as response:
            if (await response.json())["run"] == count:
                return


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_answers_every_caller_and_leaves_no_process(start_service, backend, family, alive, number):
    service = await start_service("--backend", backend.address)
    async with aiohttp.ClientSession() as session:
        done = await _post(session, service.url, {"instance": {"data_source": "echo"}})
        assert done[1]["outcome"] == "scored"
        known = family(service.process.pid)
        assert len(known) > 1
        calls = [asyncio.create_task(_post(session, service.url, ENDLESS)) for _ in range(8)]
        await _until_run(session, service.url, 8)
        service.process.send_signal(number)
        assert {(status, body["outcome"]) for status, body in await asyncio.gather(*calls)} == {(200, "cancelled")}
    assert await service.process.wait() == 0
    assert alive(known) == set()


async def test_a_kill_leaves_no_process(start_service, backend, family, alive):
    service = await start_service("--backend", backend.address)
    async with aiohttp.ClientSession() as session:
        assert (await _post(session, service.url, {"instance": {"data_source": "echo"}}))[0] == 200
    known = family(service.process.pid)
    service.process.kill()
    await service.process.wait()
    while alive(known):
        await asyncio.sleep(0.01)


async def test_a_second_signal_ends_a_service_whose_loop_is_blocked(start_service, backend, tmp_path):
    path = tmp_path / "blocker.py"
    path.write_text(
        "import time\nfrom pathlib import Path\nfrom raas_sdk import Reward, hookimpl\n"
        "@hookimpl\ndef raas_data_sources(): return ['block']\n"
        "@hookimpl\nasync def raas_run(job):\n"
        f"    Path({str(tmp_path)!r}, 'blocking').touch()\n"
        "    while True: time.sleep(0.01)\n"
        "@hookimpl\nasync def raas_eval(job): return Reward(0.0)\n"
    )
    service = await start_service("--backend", backend.address, "--plugin", str(path))
    async with aiohttp.ClientSession() as session:
        call = asyncio.create_task(_post(session, service.url, {"instance": {"data_source": "block"}}))
        while not (tmp_path / "blocking").exists():
            await asyncio.sleep(0.01)
        while service.process.returncode is None:
            service.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.05)
        assert service.process.returncode == -signal.SIGTERM
        with pytest.raises(aiohttp.ClientError):
            await call


async def test_a_token_is_taken_from_the_flag(start_service):
    service = await start_service("--token", "s3cret")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{service.url}/status") as response:
            assert response.status == 401
        async with session.get(f"{service.url}/status", headers={"Authorization": "Bearer s3cret"}) as response:
            assert response.status == 200
