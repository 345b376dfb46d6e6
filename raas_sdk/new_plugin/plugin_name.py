"""The name of a new plugin, and the names that follow from it."""

import importlib.util
import keyword
import re
from dataclasses import dataclass

from raas_sdk.errors import NameRefused
from raas_sdk.hooks import load_plugins
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
        plugins = load_plugins(settings)
        for report in plugins.reports:
            if report.name == self.text:
                raise NameRefused(f"{self.text!r} is the name of an installed plugin ({report.source}); take another")
        owner = plugins.table.exact.get(self.text) or plugins.table.aliases.get(self.text)
        if owner is not None:
            raise NameRefused(f"{self.text!r} is a data source of the installed plugin {owner!r}; take another name")
        if importlib.util.find_spec(self.package) is not None:
            raise NameRefused(f"the package {self.package!r} exists already; take another name than {self.text!r}")


def _fault(text: str) -> str | None:
    if keyword.iskeyword(text):
        return "it is a word of Python; take another"
    if not FORM.fullmatch(text):
        return "write lower-case letters, digits and single underscores, a letter first, like 'unit_conversion'"
    if len(text) > LONGEST:
        return f"it has {len(text)} characters, and {LONGEST} are the most"
    return None
