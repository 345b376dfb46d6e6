"""The name of a new plugin, and the names that follow from it."""

import importlib.util
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from raas_sdk.errors import NameRefused
from raas_sdk.hooks import load_plugins
from raas_sdk.hooks.discovery import find_candidates
from raas_sdk.settings import Settings

__all__ = ["PluginName"]

FORM = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LONGEST = 40


@dataclass(frozen=True, slots=True)
class PluginName:
    """A name that is well formed; `check_free` tells whether it is also free here."""

    text: str

    def __post_init__(self) -> None:
        fault = _fault(self.text)
        if fault is not None:
            raise NameRefused(f"{self.text!r:.200} is no name for a plugin: {fault}")

    @property
    def package(self) -> str:
        """The import package."""
        return f"raas_{self.text}"

    @property
    def distribution(self) -> str:
        """What pip calls it, and the folder of the project."""
        return self.package.replace("_", "-")

    def check_free(self, settings: Settings) -> None:
        """Raise NameRefused if an installed plugin, data source or package has the name."""
        installed = {candidate.name: candidate.source for candidate in find_candidates(settings)}
        if self.text in installed:
            origin = installed[self.text]
            raise NameRefused(f"{self.text!r} is the name of an installed plugin ({origin}); take another")
        owner = _owners(settings, installed).get(self.text)
        if owner is not None:
            raise NameRefused(f"{self.text!r} is a data source of the installed plugin {owner!r}; take another name")
        if importlib.util.find_spec(self.package) is not None:
            raise NameRefused(f"the package {self.package!r} exists already; take another name than {self.text!r}")


def _owners(settings: Settings, installed: Collection[str]) -> Mapping[str, str]:
    """Data source → plugin. What the settings say of plugins that are still to be written is left out."""
    own = {name: section for name, section in settings.plugins.items() if name in installed}
    routes = {source: plugin for source, plugin in settings.routes.items() if plugin in installed}
    there = settings.model_copy(update={"plugins": own, "routes": {}, "wrappers": (), "strict": False})
    return {**routes, **load_plugins(there).table.exact}


def _fault(text: str) -> str | None:
    if keyword.iskeyword(text):
        return "it is a word of Python; take another"
    if not FORM.fullmatch(text):
        return "write lower-case letters, digits and single underscores, a letter first, like 'unit_conversion'"
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, and {LONGEST} are the most"
    return None
