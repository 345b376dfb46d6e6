"""The table at the end of a batch: one column per data source."""

from collections.abc import Callable, Sequence

from rich.table import Table
from rich.text import Text

from raas_sdk.cli.console import side_screen
from raas_sdk.client.errors import CallRefused
from raas_sdk.client.samples import Sample
from raas_sdk.client.summary import SourceSummary

__all__ = ["print_refused", "summary_table"]

SHOWN_REFUSALS = 5


def summary_table(summaries: Sequence[SourceSummary]) -> Table:
    """Rollouts, outcomes, rewards, turns, tokens and times."""
    table = Table("")
    for summary in summaries:
        table.add_column(Text(summary.data_source, style="bold"))
    for name, shown in _lines(summaries):
        table.add_row(name, *(shown(summary) for summary in summaries))
    return table


def print_refused(refused: Sequence[tuple[Sample, CallRefused]]) -> None:
    """Say what the service would not take."""
    console = side_screen()
    console.print(f"{len(refused)} rollouts were refused:", style="bold red")
    for sample, reason in refused[:SHOWN_REFUSALS]:
        line = f"  instance {sample.digest[:12]} sample {sample.sample_index}: {reason}"
        console.print(Text(line, style="red"), soft_wrap=True)


def _lines(summaries: Sequence[SourceSummary]) -> list[tuple[str, Callable[[SourceSummary], str]]]:
    outcomes = sorted({outcome for summary in summaries for outcome in summary.outcomes})
    k = summaries[0].k if summaries else 1
    lines: list[tuple[str, Callable[[SourceSummary], str]]] = [("rollouts", lambda s: str(s.rollouts))]
    lines += [(f"  {outcome}", lambda s, o=outcome: str(s.outcomes.get(o, 0))) for outcome in outcomes]  # type: ignore[misc]
    lines += [
        ("without reward (failed)", lambda s: str(s.rollouts - s.graded)),
        ("trainable", lambda s: str(s.trainable)),
        ("mean reward", lambda s: _figure(s.mean_reward)),
        ("pass@1", lambda s: _figure(s.pass_at_1)),
    ]
    if k > 1:
        lines.append((f"pass@{k}", lambda s: f"{_figure(s.pass_at_k)} ({s.groups_of_k} of {s.groups} groups)"))
    lines += [
        ("groups with mixed rewards", lambda s: f"{s.mixed_groups} of {s.groups}"),
        ("turns, mean", lambda s: f"{s.turns:.1f}"),
        ("sampled tokens, mean", lambda s: f"{s.tokens:.0f}"),
        ("INIT / RUN / EVAL, mean s", lambda s: " / ".join(f"{seconds:.2f}" for seconds in s.seconds)),
    ]
    return lines


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
