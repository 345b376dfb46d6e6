"""What a check found: findings, each with the hook, the fault and what to do about it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["CheckReport", "Finding", "Findings", "Severity"]

Severity = Literal["error", "warning"]
SHOWN_CHARS = 600


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, found by the step `check` of the walk. An error breaks the contract, a warning may be meant."""

    severity: Severity
    hook: str
    fault: str
    advice: str
    check: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.hook}: {self.fault}\n    what to do: {self.advice}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings about one plugin, `checks` that were made in order, and how many `rollouts` it took."""

    plugin: str
    findings: tuple[Finding, ...] = ()
    checks: tuple[str, ...] = ()
    rollouts: int = 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What breaks the contract."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What may be meant, but is worth a look."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    def raise_for_faults(self, *, warnings: bool = False) -> None:
        """Raise AssertionError that shows every finding if there is an error; with `warnings` also for those."""
        if self.errors or (warnings and self.findings):
            raise AssertionError(str(self))

    def to_wire(self) -> dict[str, Any]:
        """Plain data for JSON."""
        row: Mapping[str, Any] = asdict(self)
        return {**row, "findings": [asdict(finding) for finding in self.findings], "checks": list(self.checks)}

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.findings)])

    @property
    def summary(self) -> str:
        """One line with all the counts."""
        counts = (("error", self.errors), ("warning", self.warnings), ("check", self.checks))
        parts = [_counted(len(each), what) for what, each in counts]
        return f"plugin {self.plugin!r}: {parts[0]}, {parts[1]}; {parts[2]}, {_counted(self.rollouts, 'rollout')}"


@dataclass(slots=True)
class Findings:
    """Collects findings; the same fault of the same hook counts once."""

    found: dict[tuple[str, str], Finding] = field(default_factory=dict)
    checks: list[str] = field(default_factory=list)

    def begin(self, check: str) -> None:
        """Say which check is made now."""
        self.checks.append(check)

    def error(self, hook: str, fault: str, advice: str) -> None:
        """Note what breaks the contract."""
        self._add("error", hook, fault, advice)

    def warn(self, hook: str, fault: str, advice: str) -> None:
        """Note what is worth a look."""
        self._add("warning", hook, fault, advice)

    @property
    def errors(self) -> int:
        """How many errors were found."""
        return sum(found.severity == "error" for found in self.found.values())

    def accused(self, hook: str) -> bool:
        """Whether an error of this hook was found already."""
        return any(found.hook == hook and found.severity == "error" for found in self.found.values())

    def __iter__(self) -> Iterator[Finding]:
        return iter(sorted(self.found.values(), key=lambda finding: finding.severity))

    def __len__(self) -> int:
        return len(self.found)

    def _add(self, severity: Severity, hook: str, fault: str, advice: str) -> None:
        short = " ".join(fault.split())[:SHOWN_CHARS]
        finding = Finding(severity, hook, short, advice, self.checks[-1] if self.checks else "")
        self.found.setdefault((hook, short), finding)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
