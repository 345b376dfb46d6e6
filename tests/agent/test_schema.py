import pytest

from raas_sdk.agent.schema import SchemaFault, fitted

NESTED = {
    "type": "object",
    "properties": {"at": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}},
}


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        (3, {}, 3),
        ("x", {"type": "string"}, "x"),
        (1.5, {"type": "string"}, "1.5"),
        (True, {"type": "string"}, "true"),
        ("1e3", {"type": "number"}, 1000.0),
        ("7", {"type": "number"}, 7),
        (7, {"type": "number"}, 7),
        ("3", {"type": ["integer", "null"]}, 3),
        (None, {"type": ["integer", "null"]}, None),
        ("3", {"type": ["integer", "string"]}, "3"),
        ("3", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3),
        ("3", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3"),
        ({"at": {"line": "2"}}, NESTED, {"at": {"line": 2}}),
        ("1", {"type": "integer", "enum": [1, 2]}, 1),
        ("a", {"const": "a"}, "a"),
        ('{"line": 1}', NESTED["properties"]["at"], {"line": 1}),
        ({"other": 1}, {"type": "object"}, {"other": 1}),
    ],
)
def test_a_value_is_fitted_to_its_schema(value, schema, expected):
    result = fitted(value, schema)
    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("value", "schema", "fault"),
    [
        (None, {"type": "string"}, "must be string"),
        ([1], {"type": "string"}, "must be string"),
        ("1.5", {"type": "integer"}, "must be integer"),
        ("١", {"type": "integer", "enum": [7]}, "one of 7"),
        ("yes", {"type": "boolean"}, "must be boolean"),
        ("[1", {"type": "array"}, "must be array"),
        (1, {"enum": [True]}, "one of True"),
        (1, {"anyOf": [{"type": "null"}, {"type": "array"}]}, "must be null"),
        ({"at": {}}, NESTED, "missing required argument 'line'"),
        ({"at": {"line": "x"}}, NESTED, "argument 'at'.line must be integer"),
        (
            {"b": 1},
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            "unknown .*'b'; known: a",
        ),
        ({}, {"type": "object", "required": ["a", "b"]}, "arguments 'a', 'b'"),
        ("x" * 500, {"type": "integer"}, r"xxx\.\.\.$"),
    ],
)
def test_a_value_that_does_not_fit_is_named(value, schema, fault):
    with pytest.raises(SchemaFault, match=fault):
        fitted(value, schema)
