import json
import math
from array import array
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raas_sdk import Instance, Job, Limits, Outcome, Purpose, Result, Sampling, Segment, Tool, Trajectory, TurnSpan
from raas_sdk.result import Failure, Timing, Usage

FLOATS = st.floats(width=32, allow_infinity=False, allow_nan=True)
TEXT = st.text(max_size=8)


@st.composite
def segments(draw):
    ids = draw(st.lists(st.integers(0, 2**31 - 1), max_size=12))
    mask = draw(st.lists(st.integers(0, 1), min_size=len(ids), max_size=len(ids)))
    logprobs = draw(st.lists(FLOATS, min_size=len(ids), max_size=len(ids)))
    span = TurnSpan(
        0,
        len(ids),
        "assistant",
        draw(st.integers(0, 9)),
        draw(st.none() | TEXT),
        version=draw(st.none() | st.integers(0, 9)),
    )
    runs = tuple(draw(st.lists(st.tuples(st.integers(1, 9), st.integers(-1, 9)), max_size=3)))
    return Segment(
        array("i", ids), draw(st.integers(0, 12)), array("B", mask), array("f", logprobs), "raw", runs, (span,)
    )


@st.composite
def results(draw):
    failure = draw(st.none() | st.builds(Failure, TEXT, st.just("task"), TEXT, TEXT, also=st.tuples(TEXT)))
    trajectory = Trajectory(
        segments=tuple(draw(st.lists(segments(), max_size=2))),
        messages=({"role": "user", "content": draw(TEXT)},),
        tools=(Tool("t", draw(TEXT), {"type": "object"}),),
        num_turns=draw(st.integers(0, 9)),
        stop_reason=draw(st.none() | TEXT),
        submission=draw(st.none() | TEXT | st.lists(st.integers(), max_size=2)),
    )
    return Result(
        job_id=draw(TEXT), instance_id="i", instance_digest="d", data_source="s",
        outcome=draw(st.sampled_from(Outcome)), trainable=False, mask_reason=draw(st.none() | TEXT),
        reward=draw(st.none() | st.floats(0, 1)), failure=failure, trajectory=trajectory,
        timing=Timing(init=draw(st.floats(0, 9))), usage=Usage(turns=3), policy_version={"min": 1, "max": None},
    )  # fmt: skip


def same(one: Segment, other: Segment) -> bool:
    """Equal, NaN included: the bytes are."""
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in ("token_ids", "loss_mask")
    ) and [None if math.isnan(x) else x for x in one.logprobs] == [None if math.isnan(x) else x for x in other.logprobs]


def without_tokens(result):
    bare = [replace(s, token_ids=None, loss_mask=None, logprobs=None) for s in result.trajectory.segments]
    return replace(result, trajectory=replace(result.trajectory, segments=tuple(bare)))


@settings(max_examples=60)
@given(results(), st.sampled_from(["json", "msgpack", "python json"]))
def test_a_result_survives_every_wire(result, wire):
    row = result.to_wire(binary=wire == "msgpack")
    if wire == "json":
        row = msgspec.json.decode(msgspec.json.encode(row))
    elif wire == "python json":
        row = json.loads(json.dumps(row, allow_nan=False))
    else:
        row = msgspec.msgpack.decode(msgspec.msgpack.encode(row)) if _fits_msgpack(result) else row
    again = Result.from_wire(row)
    assert without_tokens(again) == without_tokens(result)
    assert all(same(*pair) for pair in zip(again.trajectory.segments, result.trajectory.segments, strict=True))


def _fits_msgpack(result):
    numbers = result.trajectory.submission if isinstance(result.trajectory.submission, list) else []
    return all(-(2**63) <= number < 2**63 for number in numbers)


@settings(max_examples=40)
@given(segments())
def test_binary_arrays_are_little_endian_of_fixed_width(segment):
    row = segment.to_wire(binary=True)
    assert len(row["token_ids"]) == len(row["logprobs"]) == 4 * len(row["loss_mask"])
    assert [int.from_bytes(row["token_ids"][i : i + 4], "little") for i in range(0, len(row["token_ids"]), 4)] == list(
        segment.token_ids
    )


def test_a_missing_logprob_is_null_in_json_and_nan_again():
    segment = Segment(array("i", [1]), 0, array("B", [1]), array("f", [math.nan]), "raw", ((1, 0),), ())
    row = segment.to_wire()
    assert row["logprobs"] == [None]
    assert math.isnan(Segment.from_wire(row).logprobs[0])


def test_what_does_not_apply_to_a_span_is_left_out():
    segment = Segment(array("i", [1]), 1, array("B", [0]), array("f", [0]), "raw", (), (TurnSpan(0, 1, "prompt", 0),))
    assert segment.to_wire()["turns"] == [{"start": 0, "end": 1, "role": "prompt", "message_index": 0}]


def test_a_result_of_another_schema_is_not_read():
    with pytest.raises(ValueError, match="schema 2"):
        Result.from_wire({"schema": 2})


def test_a_job_survives_the_wire():
    job = Job(
        "j", Instance.parse({"data_source": "s", "n": 1}), Sampling(seed=3, notes=("a ignored: b",)),
        Limits(total_seconds=None, run_seconds=None), Purpose.EVAL, "pool", "group", 3, 2,
    )  # fmt: skip
    assert Job.from_wire(msgspec.msgpack.decode(msgspec.msgpack.encode(job.to_wire()))) == job


def test_attempts_of_a_job_are_sampled_with_different_seeds():
    job = Job("j", Instance.parse({"data_source": "s"}), Sampling(seed=3))
    assert job.turn_seed(0) != job.next_attempt().turn_seed(0)
    assert job.next_attempt().job_id == job.job_id
