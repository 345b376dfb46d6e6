import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raas_sdk import BadInstance, Instance

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def parse(**payload):
    return Instance.parse({"data_source": "math", **payload})


def test_the_payload_stays_as_it_came():
    payload = {"data_source": "math", "prompt": [{"role": "user"}], "gold": 10**40, "x": None}
    assert Instance.parse(payload).payload == payload


def test_the_caller_cannot_change_an_accepted_instance():
    payload = {"data_source": "math", "prompt": ["a"]}
    instance = Instance.parse(payload)
    payload["prompt"].append("b")
    assert instance.payload["prompt"] == ["a"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"instance_id": "a-1"}, "a-1"),
        ({"instance_id": 17}, "17"),
        ({"extra_info": {"split": "train", "index": 3}}, "math-train-3"),
        ({"extra_info": {"name": "gsm", "split": "test", "index": 0}}, "math-gsm-test-0"),
    ],
)
def test_an_instance_is_named_by_its_id_or_by_where_it_came_from(given, named):
    assert parse(**given).instance_id == named


def test_instances_of_one_split_without_an_index_have_different_names():
    one, other = (parse(extra_info={"split": "train"}, prompt=text) for text in "ab")
    assert one.instance_id != other.instance_id


def test_an_instance_without_any_name_is_named_by_its_content():
    assert parse(prompt="x").instance_id == parse(prompt="x").instance_id != parse(prompt="y").instance_id


def test_the_digest_is_that_of_the_canonical_json():
    instance = Instance.parse({"b": [1, "ż"], "data_source": "math", "a": None})
    canonical = json.dumps(instance.payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert instance.digest == hashlib.sha256(canonical.encode()).hexdigest()


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_digest_and_name_do_not_depend_on_the_order_of_keys(payload):
    payload = {**payload, "data_source": "math"}
    payload.pop("instance_id", None)
    turned = dict(reversed(payload.items()))
    assert Instance.parse(payload).digest == Instance.parse(turned).digest
    assert Instance.parse(payload).instance_id == Instance.parse(turned).instance_id


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_an_instance_survives_the_wire(payload):
    instance = Instance.parse({**payload, "data_source": "math", "instance_id": "i"})
    again = Instance.model_validate(instance.model_dump())
    assert again == instance and again.digest == instance.digest


def test_a_default_data_source_is_for_those_that_name_none():
    assert Instance.parse({}, default_data_source="d").data_source == "d"
    assert Instance.parse({"data_source": "own"}, default_data_source="d").data_source == "own"


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ([], "not list"),
        (None, "not NoneType"),
        ("text", "not str"),
        ({}, "'data_source'"),
        ({"data_source": ""}, "data_source"),
        ({"data_source": 17}, "data_source"),
        ({"data_source": "m" * 201}, "data_source"),
        ({"data_source": "m", "instance_id": ""}, "instance_id"),
        ({"data_source": "m", "instance_id": 1.5}, "instance_id"),
        ({"data_source": "m", "instance_id": ["a"]}, "instance_id"),
        ({"data_source": "m", "instance_id": True}, "instance_id"),
        ({"data_source": "m", "x": float("nan")}, "JSON"),
        ({"data_source": "m", "x": {1, 2}}, "JSON"),
        ({"data_source": "m", "x": b"bytes"}, "JSON"),
        ({"data_source": "m", "x": "\ud800"}, "surrogates"),
    ],
)
def test_a_malformed_instance_is_refused_with_the_field_at_fault(payload, said):
    with pytest.raises(BadInstance, match=said):
        Instance.parse(payload)


def test_nesting_without_end_is_refused():
    deep = []
    deep.append(deep)
    with pytest.raises(BadInstance, match="JSON"):
        parse(x=deep)
