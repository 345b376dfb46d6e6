"""The demo: serve the embedded model, submit groups of math rollouts over HTTP, show them, check every token.

Everything goes through the same commands a user has: `raas serve` and `raas submit`.
"""

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from raas_runtime import Bubblewrap
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from token_check import compare_with_log

HERE = Path(__file__).parent
RAAS = str(Path(sys.executable).with_name("raas"))
SAMPLES = 8
SAMPLING = ("temperature=0.7", "max_output_tokens=48", "max_turns=4", "seed=1")
SLOTS = "8"
screen = Console()


def main() -> None:
    """Run it; exit 1 if a token differs from the model's own log."""
    with tempfile.TemporaryDirectory(prefix="raas-demo-") as folder:
        log, out = Path(folder) / "model-calls.jsonl", Path(folder) / "results.jsonl"
        with serving(log) as url:
            submit(url, out)
        results = [json.loads(line)["result"] for line in out.read_text().splitlines()]
        results.sort(key=lambda result: (result["instance_id"], result["sample_index"]))
        screen.print(rollout_table(results))
        print_groups(results)
        faults = compare_with_log(results, log)
    for fault in faults:
        screen.print(fault, style="bold red")
    raise SystemExit(1 if faults else 0)


@contextmanager
def serving(log: Path) -> Iterator[str]:
    """Start the service as a user would; SIGTERM it afterwards and wait until it is gone."""
    command = [RAAS, "serve", "--port", "0", "--embedded", "--embedded-log", str(log), "--run-workers", SLOTS]
    command += runtime_flags()
    screen.print(f"$ {' '.join(['raas', *command[1:]])}", style="bold", soft_wrap=True)
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        line = service.stdout.readline()
        if "http://" not in line:
            raise SystemExit(f"the service did not start (exit code {service.wait()})")
        screen.print(line.strip())
        yield line.split(" at ")[1].split()[0]
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait()


def runtime_flags() -> list[str]:
    """Isolated sandboxes where this machine can have them; otherwise say loudly that there are none."""
    probe = asyncio.run(Bubblewrap().probe())
    if probe.available:
        return []
    screen.print(f"no isolation here: {probe.reason}; model code runs unprotected (local)", style="bold red")
    return ["--runtime", "local", "--allow-unsafe-runtime"]


def submit(url: str, out: Path) -> None:
    """Send the batch with `raas submit`."""
    command = [RAAS, "submit", str(HERE / "instances.jsonl"), "--server", url, "-n", str(SAMPLES), "--out", str(out)]
    for pair in SAMPLING:
        command += ["--sampling", pair]
    screen.print(f"$ raas submit instances.jsonl --server {url} -n {SAMPLES}", style="bold", soft_wrap=True)
    subprocess.run(command, check=True)


def rollout_table(results: list[dict[str, Any]]) -> Table:
    """One row a rollout."""
    names = ("instance", "n", "outcome", "reward", "turns", "tools", "tokens", "init / run / eval s")
    table = Table(*names, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for result in results:
        usage, timing = result["usage"], result["timing"]
        reward = "none" if result["reward"] is None else f"{result['reward']:g}"
        seconds = " / ".join(f"{timing[name]:.1f}" for name in ("init_time", "run_time", "eval_time"))
        counts = (str(usage[name]) for name in ("turns", "tool_calls", "sampled_tokens"))
        table.add_row(result["instance_id"], str(result["sample_index"]), result["outcome"], reward, *counts, seconds)
    return table


def print_groups(results: list[dict[str, Any]]) -> None:
    """What a trainer would make of it: groups with both right and wrong answers carry a signal."""
    groups: dict[str, list[float]] = defaultdict(list)
    for result in results:
        if result["reward"] is not None:
            groups[result["instance_id"]].append(result["reward"])
    mixed = sum(1 for rewards in groups.values() if min(rewards) < max(rewards))
    called = sum(1 for result in results if any_tool_tokens(result))
    trainable = sum(1 for result in results if result["trainable"])
    screen.print(f"{len(results)} rollouts, {trainable} trainable; {mixed} of {len(groups)} groups have mixed rewards")
    screen.print(f"{called} rollouts called a tool and have its result in their tokens")


def any_tool_tokens(result: dict[str, Any]) -> bool:
    """Whether a tool's observation is part of the token stream."""
    spans = [span for segment in result["segments"] for span in segment["turns"]]
    return any(span["role"] == "tool" and span["end"] > span["start"] for span in spans)


if __name__ == "__main__":
    main()
