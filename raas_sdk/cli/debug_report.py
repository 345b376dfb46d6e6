"""What `raas debug` shows at the end: messages, tokens and mask, verdict, times."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from raas_sdk.cli.console import screen
from raas_sdk.cli.debug_view import print_isolation
from raas_sdk.result import Outcome, Result
from raas_sdk.trajectory import Segment, TurnSpan

__all__ = ["print_report"]

ROLE_STYLES = {"assistant": "green", "user": "cyan", "system": "magenta", "tool": "yellow"}


def print_report(result: Result) -> None:
    """Print everything about a finished job."""
    console = screen()
    _print_messages(console, result)
    for number, segment in enumerate(result.trajectory.segments, 1):
        console.print(_segment_table(segment, f"segment {number} of {len(result.trajectory.segments)}"))
    console.print(_verdict_table(result))
    if result.sandbox.get("runtime") not in (None, "none"):
        print_isolation(console, runtime=str(result.sandbox["runtime"]), level=str(result.sandbox.get("level")))


def _print_messages(console: Console, result: Result) -> None:
    for index, message in enumerate(result.trajectory.messages):
        role = str(message.get("role"))
        console.print(Rule(f"message {index} · {role}", align="left", style=ROLE_STYLES.get(role, "white")))
        console.print(Text(_shown(message)))


def _shown(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    return "\n".join([str(message.get("content") or ""), *(f"→ {call}" for call in calls)]).strip("\n")


def _segment_table(segment: Segment, title: str) -> Table:
    lacking = f", {segment.missing_logprobs} without logprob" if segment.missing_logprobs else ""
    caption = (
        f"{len(segment.token_ids)} tokens, prompt {segment.prompt_len}, mask 1 on {segment.sampled_tokens}{lacking}; "
        f"logprobs: {segment.logprobs_mode}; versions (count, version): {list(segment.versions)}"
    )
    table = Table("tokens", "role", "mask", "message", "mean logprob", "finish", "note", title=title, caption=caption)
    for span in segment.turns:
        table.add_row(*(Text(cell) for cell in _span_cells(segment, span)))
    return table


def _span_cells(segment: Segment, span: TurnSpan) -> Iterator[str]:
    mask = segment.loss_mask[span.start : span.end]
    values = [value for value in segment.logprobs[span.start : span.end] if math.isfinite(value)]
    yield f"[{span.start}, {span.end})"
    yield span.role
    yield "1" if any(mask) else "0"
    yield str(span.message_index)
    yield f"{sum(values) / len(values):.3f}" if any(mask) and values else "-"
    yield span.finish_reason or "-"
    yield span.note or ""


def _place(traceback: str) -> str:
    """The innermost place outside the SDK, else the innermost of all: file, line, function and code."""
    lines = traceback.splitlines()
    frames = [(line.strip(), lines[i + 1].strip()) for i, line in enumerate(lines[:-1]) if line.startswith("  File ")]
    own = [frame for frame in frames if "raas_sdk" not in frame[0]] or frames
    return "\n".join(own[-1]) if own else "-"


def _verdict_table(result: Result) -> Table:
    table = Table(show_header=False)
    good = result.outcome in (Outcome.SCORED, Outcome.MODEL_LIMIT)
    table.add_row("outcome", Text(result.outcome.value, style="bold green" if good else "bold red"))
    table.add_row("reward", "none" if result.reward is None else f"{result.reward:g}")
    if result.reward_parts:
        table.add_row("reward parts", Text(", ".join(f"{key} {value:g}" for key, value in result.reward_parts.items())))
    if result.reward_detail:
        table.add_row("reward detail", Text(repr(dict(result.reward_detail))[:500]))
    table.add_row("trainable", "yes" if result.trainable else f"no: {result.mask_reason}")
    if result.failure is not None:
        failure = result.failure
        table.add_row("failure", Text(f"{failure.stage}/{failure.kind}/{failure.code}: {failure.message}", style="red"))
        table.add_row("where", Text(_place(failure.traceback or "")))
    table.add_row("submission", Text(repr(result.trajectory.submission)[:500]))
    usage, timing = result.usage, result.timing
    table.add_row("turns, tools", f"{usage.turns} turns, {usage.tool_calls} tool calls")
    table.add_row("tokens", f"{usage.sampled_tokens} sampled, {usage.prompt_tokens} sent")
    table.add_row("INIT / RUN / EVAL", f"{timing.init:.3f} / {timing.run:.3f} / {timing.eval:.3f} s")
    table.add_row("of which model", f"{timing.model:.3f} s (total {timing.total:.3f} s)")
    for note in result.extra.get("notes", ()):
        table.add_row("note", Text(str(note)))
    return table
