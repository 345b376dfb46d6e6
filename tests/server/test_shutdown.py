"""The first signal asks, the deadline insists."""

import signal
import subprocess
import sys

BLOCKED = """
import asyncio
from raas_sdk.server.shutdown import stop_on_signals

async def main():
    with stop_on_signals(asyncio.Event(), deadline_seconds=1):
        print("ready", flush=True)
        while True:
            pass

asyncio.run(main())
"""


def test_a_process_that_does_not_end_by_itself_is_ended_at_the_deadline():
    with subprocess.Popen([sys.executable, "-c", BLOCKED], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait() == -signal.SIGALRM
