"""The stranger's path without a clone: raas-sdk from its wheel writes a plugin, whose wheel is installed and served."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from raas_sdk.testing.fake_backend import FakeBackend
from raas_sdk.tokens import load_renderer

ROOT = Path(__file__).parents[2]
RENDERER = load_renderer("test:chatml")
WHERE = "import raas_sdk, raas_word_games; print(raas_sdk.__file__, raas_word_games.__file__)"


def run(*command, site=None, cwd=ROOT):
    given = {name: text for name, text in os.environ.items() if not name.startswith("RAAS_")}
    path = {} if site is None else {"PYTHONPATH": str(site)}
    environment = {**given, **path, "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=100, cwd=cwd, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(source, folder):
    """The wheel of a project, made with the build backend that is installed here."""
    run("-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(folder), str(source))
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel, site):
    run("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site), str(wheel))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with raas-sdk from its wheel, and with the plugin that this raas-sdk wrote, from a wheel as well."""
    folder = tmp_path_factory.mktemp("stranger")
    site = folder / "site"
    install(built(ROOT, folder / "sdk"), site)
    run("-m", "raas_sdk", "new", "word_games", "--dir", str(folder), site=site, cwd=folder)
    install(built(folder / "raas-word-games", folder / "plugin"), site)
    return site


@pytest.fixture
def examples(site):
    return site.parent / "raas-word-games" / "examples"


@pytest.fixture
async def backend(examples):
    """Plays the replies of the example."""
    replies = json.loads((examples / "replies.json").read_text())
    async with FakeBackend("vllm", script=replies, encode=RENDERER.encode) as backend:
        yield backend


@pytest.fixture
async def url(site, backend, tmp_path):
    """A service of the two wheels, killed at the end."""
    flags = ("--port", "0", "--backend", backend.address, "--tokenizer", "test:chatml", "--allow-unsafe-runtime")
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONUNBUFFERED": "1"}
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "raas_sdk", "serve", *flags, stdout=asyncio.subprocess.PIPE, cwd=tmp_path, env=environment
    )
    try:
        yield (await service.stdout.readline()).decode().split()[3]
    finally:
        service.terminate()
        await service.communicate()


def test_both_packages_come_from_their_wheels_with_all_their_files(site):
    assert [Path(place).parents[1] for place in run("-c", WHERE, site=site, cwd=site).split()] == [site, site]
    prompts = {path.name for path in (site / "raas_word_games" / "prompts").iterdir()}
    assert prompts == {"examples.json", "question.j2", "system.j2"}
    assert (site / "raas_word_games" / "py.typed").exists()


def test_the_installed_plugin_is_listed_with_its_version(site):
    rows = {row["name"]: row for row in json.loads(run("-m", "raas_sdk", "plugins", "--json", site=site, cwd=site))}
    row = rows["word_games"]
    assert (row["source"], row["version"]) == ("entry point of raas-word-games", "0.1.0")
    assert (row["kind"], row["data_sources"], row["error"]) == ("task", ["word_games"], None)


async def test_the_installed_plugin_is_served(url, examples):
    instance = json.loads((examples / "instance.json").read_text())
    body = {"instance": instance}
    async with aiohttp.ClientSession() as session, session.post(f"{url}/process", json=body) as response:
        assert response.status == 200
        result = await response.json()
    assert (result["outcome"], result["reward"], result["usage"]["tool_calls"]) == ("scored", 1.0, 1), result
    assert result["trainable"]
