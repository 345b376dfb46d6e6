import enum
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.json_data import json_copy

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4) | st.integers() | st.booleans() | st.none(), inner, max_size=4)
    ),
    max_leaves=12,
)


class Colour(enum.StrEnum):
    RED = "red"


@given(PLAIN)
def test_the_copy_is_what_json_makes_of_it_or_refuses(value):
    try:
        wanted = json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except ValueError:
        with pytest.raises(ValueError, match="not JSON-able"):
            json_copy(value)
        return
    assert repr(json_copy(value)) == repr(wanted)


@pytest.mark.parametrize(
    "odd", [object(), {1, 2}, b"x", math.nan, {"a": [math.inf]}, {(1, 2): 3}, "half \ud800", {"\ud800": 1}]
)
def test_what_is_no_plain_data_is_refused(odd):
    with pytest.raises(ValueError, match="not JSON-able"):
        json_copy(odd)


def test_a_cycle_is_refused():
    endless: list = []
    endless.append(endless)
    with pytest.raises(ValueError, match="not JSON-able"):
        json_copy(endless)


def test_the_copy_shares_nothing_with_the_original():
    inner = {"a": [1]}
    copy = json_copy({"x": inner, "y": inner})
    inner["a"].append(2)
    copy["x"]["a"].append(3)
    assert copy == {"x": {"a": [1, 3]}, "y": {"a": [1]}}


def test_a_member_of_an_enum_becomes_its_value():
    copy = json_copy([Colour.RED])
    assert copy == ["red"] and type(copy[0]) is str
