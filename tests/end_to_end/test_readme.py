"""What the README shows is what there is."""

import json
import re
from pathlib import Path

from raas_sdk.debug import debug_instance
from raas_sdk.settings import load_settings

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples/first_letter/first_letter.py"
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_whole_plugin_is_the_example_and_shorter_than_25_lines():
    shown = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    assert shown == PLUGIN.read_text(encoding="utf-8")
    assert len(shown.splitlines()) < 25


async def test_the_plugin_of_the_readme_runs():
    settings = load_settings({"plugin": (str(PLUGIN),), "entry_points": False, "tokenizer": "test:plain"})
    body = {"instance": {"data_source": "first_letter", "word": "apple"}}
    results = [await debug_instance(settings, body, script=[reply]) for reply in ("a", "b")]
    assert [(result.outcome, result.reward) for result in results] == [("scored", 1.0), ("scored", 0.0)]


def test_every_document_that_is_linked_exists():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_demo_instances_are_what_the_math_plugin_reads():
    from raas_math.problem import Problem

    lines = (ROOT / "examples/demo/instances.jsonl").read_text(encoding="utf-8").splitlines()
    questions = {Problem.from_payload(json.loads(line)).question for line in lines}
    assert len(questions) == len(lines) >= 5
