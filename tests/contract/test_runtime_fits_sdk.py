"""The runtime imports nothing of the SDK and is used through its protocols: here they are held against each other."""

import inspect
from dataclasses import fields

import pytest
import raas_runtime

from raas_sdk import workspace


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (workspace.SandboxSpec, raas_runtime.SandboxSpec),
        (workspace.SandboxLimits, raas_runtime.Limits),
        (workspace.Bind, raas_runtime.Bind),
        (workspace.Tool, raas_runtime.Tool),
        (workspace.Observation, raas_runtime.Observation),
    ],
)
def test_records_have_the_same_fields_in_the_same_order(ours, theirs):
    assert [field.name for field in fields(ours)] == [field.name for field in fields(theirs)]


def test_defaults_of_records_agree():
    assert workspace.Bind("a", "b") == workspace.Bind(**_values(raas_runtime.Bind("a", "b")))
    ours, theirs = workspace.Observation("text"), raas_runtime.Observation("text")
    assert ours == workspace.Observation(**_values(theirs))
    simple = {"binds", "environment", "image", "network", "preload", "python", "rootfs"}
    ours, theirs = _values(workspace.SandboxSpec()), _values(raas_runtime.SandboxSpec())
    assert {name: ours[name] for name in simple} == {name: theirs[name] for name in simple}


@pytest.mark.parametrize(
    ("protocol", "fitting"),
    [
        (workspace.Workspace, raas_runtime.SandboxWorkspace),
        (workspace.Workspace, workspace.EmptyWorkspace),
        (workspace.Runtime, raas_runtime.Bubblewrap),
        (workspace.Runtime, raas_runtime.Local),
    ],
)
def test_methods_take_what_the_protocol_says(protocol, fitting):
    for name, wanted in _methods(protocol).items():
        given = getattr(fitting, name)
        assert inspect.iscoroutinefunction(given) == inspect.iscoroutinefunction(wanted), name
        assert _parameters(given) == _parameters(wanted), name


def test_a_runtime_names_itself_and_its_level():
    for runtime in (raas_runtime.Bubblewrap(), raas_runtime.Local()):
        assert runtime.name
        assert runtime.level


def test_answers_have_the_properties_of_the_protocols():
    assert _properties(workspace.ExecResult) <= {field.name for field in fields(raas_runtime.ExecResult)}
    assert _properties(workspace.Probe) <= {field.name for field in fields(raas_runtime.Probe)}


async def test_an_open_workspace_is_one_for_the_sdk():
    async with raas_runtime.Local().open_workspace(workspace.SandboxSpec(), tools=()) as opened:
        assert isinstance(opened, workspace.Workspace)


def _values(record):
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _methods(protocol):
    return {name: value for name, value in vars(protocol).items() if inspect.isfunction(value) and name[0] != "_"}


def _parameters(function):
    """Names, kinds and defaults; self aside, and whether a default is there or which it is."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return [(each.name, each.kind, each.default) for each in found]


def _properties(protocol):
    return {name for name, value in vars(protocol).items() if isinstance(value, property)}
