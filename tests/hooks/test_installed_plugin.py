"""A stranger's plugin: a distribution of its own, installed by pip, found by its entry points in a fresh process."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PLUGIN = """
import pydantic
from raas_sdk import Reward, hookimpl

class Settings(pydantic.BaseModel):
    depth: int = 1

class Plugin:
    @hookimpl
    def raas_data_sources(self): return ["stranger", "stranger_*"]
    @hookimpl
    def raas_settings(self): return Settings
    @hookimpl
    async def raas_run(self, job): return job.instance.payload["answer"]
    @hookimpl
    async def raas_eval(self, trajectory): return Reward(float(trajectory.submission == 42))

plugin = Plugin()
"""
LIST = """
import dataclasses, json, sys
from raas_sdk.hooks import load_plugins
from raas_sdk.settings import load_settings
flags = json.loads(sys.argv[1])
try:
    plugins = load_plugins(load_settings(flags, environ={}))
except Exception as error:
    print(json.dumps({"refused": str(error)}))
else:
    settings = {name: model and model.model_dump() for name, model in plugins.settings.items()}
    print(json.dumps({"reports": [dataclasses.asdict(r) for r in plugins.reports], "settings": settings}))
"""


def wheel(folder: Path, name: str, points: str, **modules: str) -> Path:
    path = folder / f"{name}-1.2-py3-none-any.whl"
    info = f"{name}-1.2.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for module, source in modules.items():
            archive.writestr(f"{module}.py", source)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", points)
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with four distributions: a good one, a broken one, and a pair that share an entry point's name."""
    folder = tmp_path_factory.mktemp("wheels")
    wheels = [
        wheel(folder, "stranger", "[raas]\nstranger = stranger_plugin:plugin\n", stranger_plugin=PLUGIN),
        wheel(folder, "sick", "[raas]\nsick = sick_plugin\n", sick_plugin="import not_there_at_all"),
    ]
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*pip, *map(str, wheels)], check=True, timeout=60, env={**os.environ, "PIP_NO_CACHE_DIR": "1"})
    return target


def loaded(site: Path, *more: Path, **flags):
    path = os.pathsep.join([str(site), *map(str, more), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", LIST, json.dumps(flags)],
        capture_output=True, text=True, timeout=60, cwd=site, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_installed_plugin_is_found_with_its_distribution_and_version(site):
    found = loaded(site, plugins={"stranger": {"depth": 3}})
    reports = {report["name"]: report for report in found["reports"]}
    assert reports["stranger"]["kind"] == "task"
    assert reports["stranger"]["source"] == "entry point of stranger"
    assert reports["stranger"]["version"] == "1.2"
    assert reports["stranger"]["data_sources"] == ["stranger", "stranger_*"]
    assert found["settings"]["stranger"] == {"depth": 3}


def test_a_broken_distribution_is_reported_and_costs_no_other_plugin(site):
    reports = {report["name"]: report for report in loaded(site)["reports"]}
    assert reports["sick"]["kind"] == "broken" and "not_there_at_all" in reports["sick"]["error"]
    assert reports["sick"]["version"] == "1.2"
    assert "not_there_at_all" in loaded(site, strict=True)["refused"]


def test_two_entry_points_of_one_name_are_refused_and_both_distributions_named(site, tmp_path):
    other = wheel(tmp_path, "usurper", "[raas]\nstranger = stranger_plugin:plugin\n")
    with zipfile.ZipFile(other) as archive:
        archive.extractall(tmp_path / "site2")
    refused = loaded(site, tmp_path / "site2")["refused"]
    assert "'stranger'" in refused and "entry point of stranger" in refused and "entry point of usurper" in refused


def test_entry_points_can_be_left_out(site):
    assert loaded(site, entry_points=False)["reports"] == []
