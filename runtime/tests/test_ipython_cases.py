"""The IPython tool, cell by cell: cases/ipython.jsonl says what is sent and what the model must see."""

import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from raas_runtime import Bubblewrap, Limits, Local, Observation, SandboxSpec, SandboxWorkspace

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOL = "execute_ipython_cell"
MIB = 1 << 20
CASES = [json.loads(line) for line in (Path(__file__).parent / "cases" / "ipython.jsonl").read_text().splitlines()]


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(shared: SandboxWorkspace) -> SandboxWorkspace:
    """The shared sandbox with a new kernel, which costs a fork instead of a start."""
    await shared.call(TOOL, {"code": "import os\nos._exit(0)"}, timeout=15)
    return shared


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
async def test_cells_show_what_the_case_says(case: dict[str, Any], fresh: SandboxWorkspace) -> None:
    for cell in case["cells"]:
        seen = await fresh.call(TOOL, {"code": cell["code"]}, timeout=cell["timeout_seconds"])
        alternatives = cell["expect"].get("one_of", [cell["expect"]])
        faults = [faults_of(seen, expected) for expected in alternatives]
        assert [] in faults, (faults, seen)


async def test_a_cell_that_eats_memory_ends_as_an_error_within_its_limit(
    runtime: Local | Bubblewrap,
) -> None:
    spec = SandboxSpec(limits=Limits(memory_bytes=384 * MIB))
    async with runtime.open_workspace(spec, tools=["ipython"]) as workspace:
        eaten = await workspace.call(
            TOOL, {"code": "eaten = []\nwhile True: eaten.append(' ' * 10_000_000)"}, timeout=20
        )
        assert eaten.error
        assert not eaten.timed_out
        assert (await workspace.call(TOOL, {"code": "print('alive')"}, timeout=15)).text == "alive\n"


def faults_of(seen: Observation, expected: dict[str, Any]) -> list[str]:
    """Every way in which an observation is not what was expected."""
    checks = {
        "ok": seen.error is not expected.get("ok"),
        "timed_out": seen.timed_out is expected.get("timed_out"),
        "truncated": seen.truncated is expected.get("truncated"),
        "restarted": "restarted" in seen.text,
        "error_name": expected.get("error_name", "") in seen.text,
        "max_output_chars": len(seen.text) <= expected.get("max_output_chars", 0),
        "contains": all(text in seen.text for text in expected.get("contains", ())),
        "not_contains": all(text not in seen.text for text in expected.get("not_contains", ())),
    }
    if "contains" not in expected:
        exact = (expected.get("stdout") or "") + (expected.get("result") or "")
        checks |= {"stdout": seen.text == exact, "result": seen.text == exact}
    else:
        checks |= {"result": seen.text.endswith(str(expected.get("result"))), "stdout": True}
    return [name for name in expected if not checks[name]]
