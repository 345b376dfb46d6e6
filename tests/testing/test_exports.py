"""`raas_sdk.testing` offers its names when they are asked for, and imports nothing before."""

import subprocess
import sys

import pytest

import raas_sdk.testing
from raas_sdk.testing import ScriptedPolicy, ScriptedReply
from raas_sdk.workspace import Runtime, Workspace


def test_every_listed_name_can_be_had_and_belongs_to_the_package():
    for name in raas_sdk.testing.__all__:
        assert getattr(raas_sdk.testing, name) is not None
        assert name in dir(raas_sdk.testing)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'ScriptedPolice'"):
        raas_sdk.testing.ScriptedPolice  # noqa: B018 - the attribute is asked for


def test_a_fake_is_imported_without_what_the_others_need():
    look = "import sys; from raas_sdk.testing import ScriptedPolicy, FakeWorkspace; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    assert "'raas_sdk.testing.scripted_policy'" in done.stdout
    assert "'aiohttp'" not in done.stdout and "'raas_sdk.gateway'" not in done.stdout


def test_the_fake_server_starts_as_a_program_without_a_warning():
    command = [sys.executable, "-W", "error", "-m", "raas_sdk.testing.fake_backend", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_fakes_fit_the_protocols_of_plugins():
    for name, protocol in (("FakeWorkspace", Workspace), ("FakeRuntime", Runtime)):
        fake = getattr(raas_sdk.testing, name)()
        wanted = [member for member in vars(protocol) if not member.startswith("_")]
        assert wanted and all(hasattr(fake, member) for member in wanted)


async def test_a_scripted_policy_plays_a_whole_conversation():
    policy = ScriptedPolicy(["first", ScriptedReply("cut", finish_reason="length"), lambda told: told[-1]["content"]])
    chat = policy.conversation([{"role": "user", "content": "go"}])
    turns = [await chat.sample() for _ in range(2)]
    chat.append({"role": "user", "content": "echo"})
    assert [(turn.text, turn.finish_reason) for turn in turns] == [("first", "stop"), ("cut", "length")]
    assert (await chat.sample()).text == "echo"
