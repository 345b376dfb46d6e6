"""Figures of a batch by data source. A failure has no reward: it is counted apart, never as 0."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from statistics import fmean
from typing import Any, Self

__all__ = ["Row", "SourceSummary", "pass_at_k", "summarise"]


@dataclass(frozen=True, slots=True)
class Row:
    """What a summary needs of one result."""

    data_source: str
    group: str
    outcome: str
    reward: float | None
    resolved: bool
    trainable: bool
    turns: int
    tokens: int
    seconds: tuple[float, float, float]

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Self:
        """Read it off a /process answer."""
        timing, usage = result["timing"], result["usage"]
        return cls(
            data_source=result["data_source"],
            group=result["instance_digest"],
            outcome=result["outcome"],
            reward=result["reward"],
            resolved=bool(result["resolved"]),
            trainable=bool(result["trainable"]),
            turns=usage["turns"],
            tokens=usage["sampled_tokens"],
            seconds=(timing["init_time"], timing["run_time"], timing["eval_time"]),
        )


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """One data source. Means are over graded rollouts (None without any); `seconds` are of INIT, RUN and EVAL."""

    data_source: str
    rollouts: int
    graded: int
    trainable: int
    outcomes: Mapping[str, int]
    groups: int
    mixed_groups: int
    mean_reward: float | None
    pass_at_1: float | None
    pass_at_k: float | None
    k: int
    groups_of_k: int
    turns: float
    tokens: float
    seconds: tuple[float, float, float]


def summarise(rows: Iterable[Row], *, k: int) -> list[SourceSummary]:
    """One summary for each data source, by name."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_source[row.data_source].append(row)
    return [_summary(source, by_source[source], k) for source in sorted(by_source)]


def pass_at_k(samples: int, resolved: int, k: int) -> float:
    """The unbiased estimate that at least one of k samples is right, given `resolved` of `samples` were."""
    return 1.0 - comb(samples - resolved, k) / comb(samples, k)


def _summary(source: str, rows: list[Row], k: int) -> SourceSummary:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    graded = [[row for row in group if row.reward is not None] for group in groups.values()]
    rewards = [row.reward for row in rows if row.reward is not None]
    deep = [group for group in graded if len(group) >= k]
    return SourceSummary(
        data_source=source,
        rollouts=len(rows),
        graded=len(rewards),
        trainable=sum(row.trainable for row in rows),
        outcomes=dict(Counter(row.outcome for row in rows)),
        groups=len(groups),
        mixed_groups=sum(len({row.reward for row in group}) > 1 for group in graded),
        mean_reward=fmean(rewards) if rewards else None,
        pass_at_1=_mean_pass(graded, 1),
        pass_at_k=_mean_pass(deep, k),
        k=k,
        groups_of_k=len(deep),
        turns=fmean(row.turns for row in rows),
        tokens=fmean(row.tokens for row in rows),
        seconds=_mean_seconds(rows),
    )


def _mean_pass(groups: list[list[Row]], k: int) -> float | None:
    rates = [pass_at_k(len(group), sum(row.resolved for row in group), k) for group in groups if len(group) >= k]
    return fmean(rates) if rates else None


def _mean_seconds(rows: list[Row]) -> tuple[float, float, float]:
    init, run, evaluation = (fmean(row.seconds[place] for row in rows) for place in range(3))
    return init, run, evaluation
