"""The files of a new plugin's project: templates of this package, filled in and written to a folder of their own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from raas_sdk.errors import FolderRefused
from raas_sdk.new_plugin.plugin_name import PluginName

__all__ = ["PluginProject", "write_project"]

TEMPLATE = Path(__file__).with_name("template")
SUFFIX = ".template"
RENAMED = {"gitignore": ".gitignore"}


@dataclass(frozen=True, slots=True)
class PluginProject:
    """A project as it was written; `files` are relative to `folder`, in order."""

    name: PluginName
    folder: Path
    files: tuple[Path, ...]


def write_project(name: PluginName, parent: Path) -> PluginProject:
    """Write a plugin's project to a new folder in `parent`; raise FolderRefused, with nothing left, if that fails."""
    texts = dict(_rendered(name))
    folder = parent / name.distribution
    with _new_folder(folder):
        for place, text in texts.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(text, encoding="utf-8")
    return PluginProject(name, folder, tuple(texts))


def _rendered(name: PluginName) -> Iterator[tuple[Path, str]]:
    """Marks are angle brackets: the files themselves are full of braces, and one is a Jinja2 template."""
    environment = Environment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    values = {"name": name.text, "package": name.package, "distribution": name.distribution, "sdk": _sdk_version()}
    for path in sorted(TEMPLATE.rglob(f"*{SUFFIX}")):
        template = environment.from_string(path.read_text(encoding="utf-8"))
        yield _place(path.relative_to(TEMPLATE), name), template.render(values)


def _place(template: Path, name: PluginName) -> Path:
    parts = [name.package if part == "package" else part for part in template.parent.parts]
    file = template.name.removesuffix(SUFFIX)
    return Path(*parts, RENAMED.get(file, file))


def _sdk_version() -> str:
    """The release that the plugin is written against, as major.minor."""
    return ".".join(version("raas-sdk").split(".")[:2])


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir()
    except FileExistsError as error:
        raise FolderRefused(f"{str(folder)!r} exists already; remove it, or choose another place with --dir") from error
    except OSError as error:
        raise FolderRefused(f"{str(folder)!r} cannot be made: {error.strerror}; choose a place with --dir") from error
    done = False
    try:
        yield
        done = True
    except OSError as error:
        raise FolderRefused(f"{str(folder)!r} cannot be written: {error.strerror}; nothing is left of it") from error
    finally:
        if not done:
            shutil.rmtree(folder, ignore_errors=True)
