"""Which plugin serves a data source: exact names, globs and aliases, frozen after load."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache

from raas_sdk.errors import PluginRefused, UnknownSource

__all__ = ["RouteTable", "globs_overlap"]


def globs_overlap(one: str, other: str) -> bool:
    """Whether some name matches both patterns (`*` any text, `?` one character)."""

    @cache
    def meet(i: int, j: int) -> bool:
        if i == len(one) and j == len(other):
            return True
        if i < len(one) and one[i] == "*":
            return meet(i + 1, j) or (j < len(other) and meet(i, j + 1))
        if j < len(other) and other[j] == "*":
            return meet(i, j + 1) or (i < len(one) and meet(i + 1, j))
        same = i < len(one) and j < len(other) and (one[i] == other[j] or "?" in (one[i], other[j]))
        return same and meet(i + 1, j + 1)

    return meet(0, 0)


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


@dataclass(slots=True)
class RouteTable:
    """Data source → plugin name. `claim` while loading, then only `resolve`."""

    exact: dict[str, str] = field(default_factory=dict)
    globs: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def claim(self, plugin: str, sources: Iterable[str]) -> None:
        """Give data sources to a plugin; raise PluginRefused naming both where two claim the same."""
        for source in sources:
            rival = self._rival(source)
            if rival is not None and rival[1] != plugin:
                message = f"plugins {rival[1]!r} ({rival[0]!r}) and {plugin!r} ({source!r}) claim the same data source"
                raise PluginRefused(f"{message}; uninstall one, or load the other with --no-entry-points --plugin")
            (self.globs if _is_glob(source) else self.exact)[source] = plugin

    def alias(self, names: Mapping[str, str], plugins: Iterable[str]) -> None:
        """Add `[routes]` of the settings: data source = plugin name."""
        known = sorted(plugins)
        for source, plugin in names.items():
            if _is_glob(source):
                raise PluginRefused(f"[routes] {source!r}: an alias is one exact name; write one line for each")
            if plugin not in known:
                raise PluginRefused(f"[routes] {source!r} = {plugin!r}: no such task plugin; loaded: {known}")
            self.aliases[source] = plugin

    def resolve(self, source: str) -> str:
        """Return the plugin for a data source; raise UnknownSource with the closest match."""
        for table in (self.aliases, self.exact):
            if source in table:
                return table[source]
        for pattern, plugin in self.globs.items():
            if fnmatchcase(source, pattern):
                return plugin
        raise UnknownSource(self._unknown(source))

    def rows(self) -> list[tuple[str, str, str]]:
        """(data source, plugin, kind) for display, sorted."""
        tables = (("exact", self.exact), ("glob", self.globs), ("alias", self.aliases))
        return sorted((source, plugin, kind) for kind, table in tables for source, plugin in table.items())

    def _rival(self, source: str) -> tuple[str, str] | None:
        if not _is_glob(source):
            return (source, self.exact[source]) if source in self.exact else None
        return next(((glob, p) for glob, p in self.globs.items() if globs_overlap(source, glob)), None)

    def _unknown(self, source: str) -> str:
        known = sorted({*self.exact, *self.globs, *self.aliases})
        close = difflib.get_close_matches(source, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"no plugin serves data source {source!r}{hint} (available: {', '.join(known) or 'none'})"
