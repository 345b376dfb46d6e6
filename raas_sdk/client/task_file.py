"""Task instances from a file: JSON lines or parquet."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from raas_sdk.errors import BadInstance

__all__ = ["read_tasks"]


def read_tasks(path: Path) -> list[Mapping[str, Any]]:
    """All instances in order; raise BadInstance that names the line or what to install."""
    readers = {".jsonl": _json_lines, ".parquet": _parquet}
    reader = readers.get(path.suffix)
    if reader is None:
        raise BadInstance(f"{str(path)!r} is neither .jsonl nor .parquet; write one JSON object per line")
    try:
        return list(reader(path))
    except OSError as error:
        raise BadInstance(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _object(line, f"{str(path)!r} line {number}")


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInstance(f"{where} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadInstance(f"{where} is not a JSON object but {type(value).__name__}")
    return value


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError as error:
        raise BadInstance("parquet files need pyarrow: pip install 'raas-sdk[parquet]'") from error
    try:
        rows = parquet.read_table(path).to_pylist()
    except ArrowInvalid as error:
        raise BadInstance(f"{str(path)!r} is not a parquet file: {error}") from error
    for row in rows:
        yield msgspec.json.decode(msgspec.json.encode(row))
