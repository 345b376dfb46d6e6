"""Every hook says when it is called and since which version, and has a test."""

import inspect
import re

import pytest

from raas_sdk.hooks import hookspecs
from raas_sdk.hooks.handler import TaskHandler

HOOKS = sorted(name for name in hookspecs.__all__ if name.startswith("raas_"))


@pytest.fixture(scope="session")
def tested(root):
    """All text of tests but these."""
    files = [*root.glob("tests/**/*.py"), *root.glob("plugins/*/tests/**/*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files if "contract" not in path.parts)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_says_when_and_since(hook):
    text = inspect.getdoc(getattr(hookspecs, hook)) or ""
    assert "When:" in text, f"{hook}: its docstring does not say when it is called"
    assert re.search(r"Since \d+\.\d+", text), f"{hook}: its docstring does not say since which version"


def test_every_hook_is_tested(tested, refuse):
    refuse(f"no test mentions {hook}" for hook in HOOKS if not re.search(rf"\b{hook}\b", tested))


def test_every_hook_is_listed():
    specified = {name for name, value in vars(hookspecs).items() if hasattr(value, "raas_spec")}
    assert specified == set(HOOKS)


def test_the_handler_class_offers_every_hook_but_announcements():
    offered = {name for name in HOOKS if hasattr(TaskHandler, name) or hasattr(TaskHandler, name.removeprefix("raas_"))}
    announced = {"raas_job_finished", "raas_job_started", "raas_stage_finished", "raas_turn_finished"}
    assert set(HOOKS) - announced <= offered
