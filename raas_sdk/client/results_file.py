"""A file of finished rollouts, one JSON line each, that a later run can go on with."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

import msgspec

from raas_sdk.client.samples import Sample
from raas_sdk.client.summary import Row
from raas_sdk.errors import SettingsInvalid

__all__ = ["ResultsFile"]


class ResultsFile:
    """Open for appending and locked. `rows` has the figures of every result in it, by sample key."""

    def __init__(self, file: BinaryIO, path: Path, plan_digest: str) -> None:
        self.rows: dict[tuple[str, int], Row] = {}
        self._file = file
        self._path = path
        self._plan_digest = plan_digest
        self._load()

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, plan_digest: str) -> Iterator[Self]:
        """Read what is there, mend a line that a crash cut off; raise SettingsInvalid if it is of another batch."""
        try:
            file = path.open("a+b")
        except OSError as error:
            raise SettingsInvalid(f"--out {str(path)!r} cannot be written: {error.strerror}") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise SettingsInvalid(f"--out {str(path)!r} is being written by another run; wait for it") from error
            yield cls(file, path, plan_digest)

    def add(self, sample: Sample, result: Mapping[str, Any]) -> None:
        """Append a result and make sure that it has left this process."""
        key = {"instance_digest": sample.digest, "sample_index": sample.sample_index, "plan": self._plan_digest}
        line = msgspec.json.encode({**key, "instance": sample.instance, "result": result}) + b"\n"
        self._file.write(line)
        self._file.flush()
        self.rows[sample.key] = Row.of(result)

    def _load(self) -> None:
        self._file.seek(0)
        good = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                os.ftruncate(self._file.fileno(), good)
                break
            good += len(line)
            if line.strip():
                self._take(line, number)

    def _take(self, line: bytes, number: int) -> None:
        where = f"--out {str(self._path)!r} line {number}"
        try:
            entry = msgspec.json.decode(line)
            key, plan = (entry["instance_digest"], entry["sample_index"]), entry["plan"]
            row = Row.of(entry["result"])
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError, KeyError) as error:
            raise SettingsInvalid(f"{where} is no result of `raas submit` ({error!r}); choose another file") from error
        if plan != self._plan_digest:
            raise SettingsInvalid(f"{where} was sampled with other parameters; choose another file")
        self.rows[key] = row
