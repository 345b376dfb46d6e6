"""Reading tasks."""

import pytest

from raas_sdk.client import read_tasks
from raas_sdk.errors import BadInstance


def test_json_lines_are_read_in_order_and_blank_ones_skipped(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"n": 1}\n\n{"n": 2}')
    assert read_tasks(path) == [{"n": 1}, {"n": 2}]


def test_parquet_is_read_as_plain_data(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    rows = [{"data_source": "math", "prompt": [{"role": "user", "content": "2+2"}], "extra_info": {"index": 3}}]
    path = tmp_path / "tasks.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    assert read_tasks(path) == rows


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b'{"n": 1}\n{"n"', "line 2"),
        ("a.jsonl", b"[1]\n", "not a JSON object"),
        ("a.csv", b"", "neither"),
        ("a.parquet", b"nonsense", "not a parquet file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInstance, match=says):
        read_tasks(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInstance, match="cannot be read"):
        read_tasks(tmp_path / "gone.jsonl")
