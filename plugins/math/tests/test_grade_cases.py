"""Every recorded case: the verdict, from wherever the grader is called, and what must not happen beside it."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from raas_math import Grade, grade

DATA = Path(__file__).parent / "data"
HOSTILE_NEXT = "\\boxed{9^{9^{9^{9}}}}"


def load(name: str) -> list[Any]:
    """One parameter per line; a case with a time limit is killed well after it."""
    rows = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return [
        pytest.param(row, id=row["id"], marks=pytest.mark.timeout(4 * row["expect"].get("within_s", 10)))
        for row in rows
    ]


def text(value: Any) -> str:
    """The text a case means: itself, or a repeated part between a prefix and a suffix."""
    if isinstance(value, str):
        return value
    return str(value.get("prefix", "") + value["repeat"] * value["times"] + value.get("suffix", ""))


def arguments(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The keyword arguments of the grader, once for each extraction under which the case holds."""
    only = given.get("extraction")
    return [
        {
            "model_output": text(given["model_output"]),
            "gold": text(given["gold"]),
            "extraction": extraction,
            "rel_tolerance": given.get("tolerance", {}).get("rel", 1e-6),
            "answer_type": given.get("answer_type"),
        }
        for extraction in ([only] if only else ["boxed", "any"])
    ]


def from_main_thread(calls: list[dict[str, Any]]) -> list[Grade]:
    return [grade(**call) for call in calls]


def from_worker_thread(calls: list[dict[str, Any]]) -> list[Grade]:
    found: list[Grade] = []
    worker = threading.Thread(target=lambda: found.extend(grade(**call) for call in calls))
    worker.start()
    worker.join()
    return found


def from_async_handler(calls: list[dict[str, Any]]) -> list[Grade]:
    async def handler() -> list[Grade]:
        return [grade(**call) for call in calls]

    return asyncio.run(handler())


def from_spawned_process(calls: list[dict[str, Any]]) -> list[Grade]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [pool.submit(grade, **call).result() for call in calls]


CALLERS: dict[str, Callable[[list[dict[str, Any]]], list[Grade]]] = {
    "main_thread": from_main_thread,
    "worker_thread": from_worker_thread,
    "async_handler": from_async_handler,
    "spawned_process": from_spawned_process,
}


@pytest.mark.parametrize("case", load("grading_cases.jsonl"))
def test_a_recorded_case_gets_its_verdict(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    setup = case["input"].get("setup", {})
    calls = arguments(case["input"])
    verdicts = CALLERS[setup.get("call_from", "main_thread")](calls)
    assert [verdict.correct for verdict in verdicts] == [case["expect"]["correct"]] * len(calls), verdicts
    if "check" in setup:
        assert not from_worker_thread([{**calls[0], "model_output": HOSTILE_NEXT}])[0].correct
    for sample in case["expect"].get("then", []):
        assert grade(sample["model_output"], sample["gold"]).correct is sample["correct"]
    if "side_effects" in case["expect"]:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("case", load("own_cases.jsonl"))
def test_a_case_of_the_same_kinds_gets_its_verdict(case: dict[str, Any]) -> None:
    calls = arguments(case["input"])
    verdicts = from_main_thread(calls)
    assert [verdict.correct for verdict in verdicts] == [case["expect"]["correct"]] * len(calls), verdicts


@pytest.mark.parametrize("caller", sorted(CALLERS))
def test_right_wrong_and_hostile_answers_get_the_same_verdicts_from_everywhere(caller: str) -> None:
    samples = [("\\boxed{\\sqrt{8}}", "2\\sqrt{2}"), ("\\boxed{\\sqrt{8}}", "3\\sqrt{2}"), (HOSTILE_NEXT, "9")]
    calls = [{"model_output": output, "gold": gold} for output, gold in samples]
    assert [(verdict.correct, verdict.reason) for verdict in CALLERS[caller](calls)] == [
        (True, "equal"),
        (False, "different"),
        (False, "too_large"),
    ]
