"""Finding plugin objects: entry points, `module[:attr]`, a path to a Python file."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from raas_sdk.errors import PluginRefused
from raas_sdk.settings import Settings

__all__ = ["GROUP", "PATH_PREFIX", "Candidate", "find_candidates", "named_candidate"]

GROUP = "raas"
PATH_PREFIX = "raas_plugin_"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin that was found but not imported yet."""

    name: str
    source: str
    version: str | None
    load: Callable[[], Any]


def find_candidates(settings: Settings) -> Iterator[Candidate]:
    """Yield entry points by name, then what `plugin` names; importing happens in `load`."""
    if settings.entry_points:
        for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
            dist = point.dist
            version = None if dist is None else dist.version
            origin = "unknown distribution" if dist is None else dist.name
            yield Candidate(point.name, f"entry point of {origin}", version, point.load)
    for text in settings.plugin:
        yield named_candidate(text)


def named_candidate(text: str) -> Candidate:
    """The plugin at `module[:attr]` or at a path, not imported yet."""
    place, _, attr = text.partition(":")
    path = Path(place)
    if path.suffix == ".py" or "/" in place:
        name = attr or path.stem
        return Candidate(name, f"path {place}", None, lambda: _attr(_from_path(path), attr))
    name = attr or place.rpartition(".")[2]
    return Candidate(name, f"module {place}", None, lambda: _attr(importlib.import_module(place), attr))


def _from_path(path: Path) -> ModuleType:
    file = path / "__init__.py" if path.is_dir() else path
    name = PATH_PREFIX + path.stem
    if not file.is_file():
        raise PluginRefused(f"no plugin file at {str(file)!r}")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise PluginRefused(f"{str(file)!r} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit):
        del sys.modules[name]
        raise
    return module


def _attr(module: ModuleType, attr: str) -> Any:
    if not attr:
        return module
    if not hasattr(module, attr):
        raise PluginRefused(f"module {module.__name__!r} has no {attr!r}")
    return getattr(module, attr)
