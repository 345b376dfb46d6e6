"""The live line of `raas submit`."""

from collections import Counter
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from raas_sdk.cli.console import side_screen
from raas_sdk.client.summary import Row

__all__ = ["SubmitProgress"]


class SubmitProgress:
    """A bar with outcomes and mean reward; `there` rollouts were done before."""

    def __init__(self, *, total: int, there: int) -> None:
        self._outcomes: Counter[str] = Counter()
        self._rewards: list[float] = []
        columns = (
            TextColumn("rollouts"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[told]}"),
        )
        self._progress = Progress(*columns, console=side_screen())
        self._task = self._progress.add_task("rollouts", total=total, completed=there, told="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def finished(self, row: Row, *, retries: int) -> None:
        """Count a rollout that just ended."""
        self._outcomes[row.outcome] += 1
        if row.reward is not None:
            self._rewards.append(row.reward)
        self._progress.update(self._task, advance=1, told=self._told(retries))

    def _told(self, retries: int) -> str:
        parts = [f"{outcome} {count}" for outcome, count in self._outcomes.most_common()]
        if self._rewards:
            parts.append(f"mean reward {sum(self._rewards) / len(self._rewards):.3f}")
        if retries:
            parts.append(f"retries {retries}")
        return " · ".join(parts)
