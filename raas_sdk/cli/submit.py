"""`raas submit`: n samples of each task of a file, written down as they end; a second run goes on."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from raas_sdk.cli.console import screen
from raas_sdk.cli.sampling_options import parse_sampling, sampling_option
from raas_sdk.cli.submit_progress import SubmitProgress
from raas_sdk.cli.summary_table import print_refused, summary_table
from raas_sdk.client import (
    Batch,
    CallRefused,
    Patience,
    ResultsFile,
    RolloutClient,
    Sample,
    SamplePlan,
    read_tasks,
    summarise,
)
from raas_sdk.settings import load_settings

__all__ = ["command"]


@click.command("submit")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--server", default="http://127.0.0.1:8006", show_default=True, metavar="URL")
@click.option("--token", default=None, help="Bearer token of the service [default: the setting].")
@click.option("-n", "--samples", type=click.IntRange(1), default=1, show_default=True, help="Rollouts of each task.")
@click.option("--concurrency", type=click.IntRange(1), default=64, show_default=True, help="Rollouts in flight.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Results [default: FILE.results.jsonl].")
@sampling_option
@click.option("--purpose", type=click.Choice(["train", "eval"]), default="train", show_default=True)
@click.option("--pool", default="default", show_default=True, help="Which backends may serve.")
@click.option("--run", "run_name", default="", help="A name for this set of samples; another name samples anew.")
def command(file: Path, samples: int, sampling: tuple[str, ...], **options: Any) -> None:
    """Submit every task of FILE (.jsonl or .parquet) and show what became of the rollouts."""
    name = f"{file.name}/{options['run_name']}"
    plan = SamplePlan(name, samples, parse_sampling(sampling), options["purpose"], options["pool"])
    wanted = list(plan.expand(read_tasks(file)))
    out = options["out"] or file.with_suffix(".results.jsonl")
    token = options["token"] or load_settings().token
    with ResultsFile.open(out, plan_digest=plan.digest) as results:
        submission = Submission(wanted, results, options["server"], token)
        refused = asyncio.run(submission.run(options["concurrency"]))
        ours = {sample.key for sample in wanted}
        rows = [row for key, row in results.rows.items() if key in ours]
    screen().print(summary_table(summarise(rows, k=samples)))
    screen().print(f"results: {out}", soft_wrap=True)
    if refused:
        print_refused(refused)
        raise SystemExit(1)


@dataclass(slots=True)
class Submission:
    """One run of the command."""

    wanted: list[Sample]
    results: ResultsFile
    url: str
    token: str | None

    async def run(self, concurrency: int) -> list[tuple[Sample, CallRefused]]:
        """Ask for what is missing; return what the service refused."""
        missing = [sample for sample in self.wanted if sample.key not in self.results.rows]
        await self._check_address()
        with SubmitProgress(total=len(self.wanted), there=len(self.wanted) - len(missing)) as progress:
            async with RolloutClient(self.url, token=self.token) as client:

                def note(sample: Sample, result: Mapping[str, Any]) -> None:
                    self.results.add(sample, result)
                    progress.finished(self.results.rows[sample.key], retries=client.retries.total())

                batch = Batch(client, missing, note)
                await batch.run(concurrency=concurrency)
        return batch.refused

    async def _check_address(self) -> None:
        """A wrong address is told at once; a service that goes away later is waited for."""
        async with RolloutClient(self.url, patience=Patience(tries=2)) as client:
            await client.health()
