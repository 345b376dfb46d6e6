"""The tutorial, typed in from top to bottom by a test: each command does what the page says.

The reader has an environment of their own, in a temporary folder, which sees the packages of this one. Pip installs
into it, from what is here and never from an index.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import textwrap
import venv
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from raas_sdk.new_plugin import PluginName, write_project

PORT = "8006"
SHARED = "import site; site.PREFIXES.append({prefix!r}); site.addsitedir({packages!r})\n"
PROGRAMS = {
    "raas": "from raas_sdk.cli import main\nmain()\n",
    "pip": "import sys\nfrom pip._internal.cli.main import main\n"
    "sys.exit(main([*sys.argv[1:], '--no-build-isolation']))\n",
    # The flags that the page uses, for machines without curl.
    "curl": """import sys, urllib.request
url = next(word for word in sys.argv[1:] if word.startswith("http"))
given = {flag: sys.argv[sys.argv.index(flag) + 1] for flag in ("-H", "-o", "-d")}
name, _, value = given["-H"].partition(": ")
request = urllib.request.Request(url, given["-d"].encode(), {name: value})
open(given["-o"], "wb").write(urllib.request.urlopen(request).read())
""",
}
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_CACHE_DIR": "1"}


@dataclass
class Reader:
    """Someone who types the page's commands in a folder of their own."""

    folder: Path
    environment: dict
    stack: ExitStack
    services: list = field(default_factory=list)

    def type(self, command):
        """Run it and give what it prints."""
        text = command.text.replace(PORT, self.environment["RAAS_PORT"])
        if text.endswith("&"):
            return self._start(text.removesuffix("&")).replace(self.environment["RAAS_PORT"], PORT)
        if text == "kill %1":
            return self._stop(self.services.pop())
        given = {"cwd": self.folder, "env": self.environment, "text": True, "timeout": 100}
        done = subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **given)
        assert done.returncode == 0, f"$ {text}\n{done.stdout}"
        return done.stdout

    def _start(self, text):
        """Start a service; its first line says that it is ready."""
        service = self.stack.enter_context(running(text, self.folder, self.environment))
        self.services.append(service)
        return service.stdout.readline()

    def _stop(self, service):
        service.terminate()
        assert service.wait() == 0
        return ""


@contextmanager
def running(text, folder, environment):
    process = subprocess.Popen(
        ["bash", "-c", f"exec {text}"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    programs = environment_in(folder / "env")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("RAAS_", "PYTHON", "PIP_NO"))}
    own = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "RAAS_PORT": free_port(),
        "COLUMNS": "120",
        "PYTHONUNBUFFERED": "1",
    }
    with ExitStack() as stack:
        yield Reader(folder, {**kept, **OFFLINE, **own}, stack)


def environment_in(folder):
    """Make a virtual environment that sees this one's packages; give its folder of programs."""
    venv.create(folder, with_pip=False, symlinks=True)
    programs, here = folder / "bin", sysconfig.get_path("purelib")
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (own / "shared.pth").write_text(SHARED.format(prefix=sys.prefix, packages=here))
    for name, program in PROGRAMS.items():
        if name != "curl" or shutil.which("curl") is None:
            (programs / name).write_text(f"#!{programs / 'python'}\n{program}")
            (programs / name).chmod(0o755)
    return programs


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_every_command_of_the_tutorial_does_what_the_page_says(page, reader):
    commands = page("tutorial/first-domain.md").commands
    assert len(commands) >= 12
    for command in commands:
        fault = command.fault(reader.type(command))
        assert fault is None, fault


def test_every_piece_of_code_on_the_page_is_in_the_project(page, tmp_path):
    project = write_project(PluginName("units"), tmp_path)
    files = [(project.folder / file).read_text(encoding="utf-8") for file in project.files]
    shown = [block for language in ("python", "toml") for block in page("tutorial/first-domain.md").blocks(language)]
    assert len(shown) >= 5
    # A body is shown without its function, so without its indent.
    ways = {block: (block, textwrap.indent(block, "    ")) for block in shown}
    assert [block for block in shown if not any(way in file for way in ways[block] for file in files)] == []
