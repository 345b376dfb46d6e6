"""Every test runs in real sandboxes: on `local` everywhere, on bubblewrap where it works."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from raas_runtime import Bubblewrap, Local, SandboxSpec, SandboxWorkspace


@pytest.fixture(scope="session")
def bubblewrap_refusal() -> str | None:
    """Why bubblewrap cannot be tested here."""
    probe = asyncio.run(Bubblewrap().probe())
    return None if probe.available else probe.reason


@pytest.fixture(scope="session")
def bubblewrap(bubblewrap_refusal: str | None) -> Bubblewrap:
    if bubblewrap_refusal is not None:
        pytest.skip(bubblewrap_refusal)
    return Bubblewrap()


@pytest.fixture(scope="session", params=["local", "bubblewrap"])
def runtime(request: pytest.FixtureRequest) -> Local | Bubblewrap:
    if request.param == "local":
        return Local()
    found: Bubblewrap = request.getfixturevalue("bubblewrap")
    return found


@pytest.fixture
async def workspace(runtime: Local | Bubblewrap) -> AsyncIterator[SandboxWorkspace]:
    """A sandbox that the test may destroy."""
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(runtime: Local | Bubblewrap) -> AsyncIterator[SandboxWorkspace]:
    """One sandbox for all tests of a module that leave it usable; they run on the module's loop."""
    async with runtime.open_workspace(SandboxSpec(), tools=["ipython"]) as opened:
        yield opened


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's sandboxes put their folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path
