"""Documents tell what is: the reference equals the code, links lead somewhere, code in them is code."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from raas_sdk import Outcome
from raas_sdk.settings import Settings

LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)")
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="session")
def pages(root):
    patterns = ("*.md", "docs/**/*.md", "bench/*.md", "runtime/*.md", "plugins/*/*.md")
    return [page for pattern in patterns for page in sorted(root.glob(pattern))]


def test_the_reference_is_what_the_code_says(root):
    done = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_setting_says_what_it_does():
    silent = [name for name, item in Settings.model_fields.items() if not item.description]
    assert not silent, f"no description: {silent}"


def test_links_lead_somewhere(pages, root, refuse):
    refuse(
        f"{page.relative_to(root)}: {target} is not there"
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    )


def test_python_in_documents_is_python(pages, root, refuse):
    faults = []
    for page in pages:
        for code in PYTHON.findall(page.read_text(encoding="utf-8")):
            try:
                # A bare signature, as the reference of hooks has it, gets the body it lacks.
                ast.parse(code if not code.startswith("def raas_") or ":\n" in code else code.rstrip() + ": ...")
            except SyntaxError as error:
                faults.append(f"{page.relative_to(root)}: {error.msg} in {code.splitlines()[0]!r}")
    refuse(faults)


def test_every_outcome_is_explained(root):
    page = (root / "docs" / "explanation" / "outcomes.md").read_text(encoding="utf-8")
    assert [outcome.value for outcome in Outcome if f"| `{outcome.value}` |" not in page] == []


def test_the_changelog_knows_the_version(root):
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"## [{version}]" in (root / "CHANGELOG.md").read_text()
