"""Our speed beside floors measured in the same run, as one table."""

import argparse
import asyncio
import os

import cells
import core
import over_http
import routing
from report import table

__all__: list[str] = []


def main() -> None:
    """Measure all, and print."""
    arguments = _arguments()
    rounds = arguments.rounds
    rows = core.measure(jobs=arguments.jobs, rounds=rounds)
    rows += routing.measure()
    rows += asyncio.run(over_http.measure(requests=arguments.jobs // 2, rounds=rounds))
    rows += asyncio.run(cells.measure(cells=20, rounds=rounds))
    print(table(rows))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; judge ratios, never rates")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our speed beside floors measured in the same run, as one table.")
    parser.add_argument("--jobs", type=int, default=1000, help="jobs of each candidate in a round")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count")
    return parser.parse_args()


if __name__ == "__main__":
    main()
