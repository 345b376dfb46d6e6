import math

import pytest

from raas_sdk import PluginFault, Reward


@pytest.mark.parametrize(
    ("reward", "resolved"),
    [
        (Reward(1.0), True),
        (Reward(0.99), False),
        (Reward(0.995), True),
        (Reward(0.2, resolved=True), True),
        (Reward(1.0, resolved=False), False),
        (Reward(1), True),
    ],
)
def test_resolved_follows_the_value_unless_the_grader_says(reward, resolved):
    assert reward.checked().is_resolved is resolved


def test_a_reward_outside_0_to_1_passes_only_with_a_range_of_its_own():
    assert Reward(-0.5, range=(-1, 1)).checked().value == -0.5
    with pytest.raises(PluginFault, match=r"-0\.5 .*\[0, 1\]"):
        Reward(-0.5).checked()


def test_accuracy_is_kept_apart_from_a_shaped_value():
    assert Reward(0.3, accuracy=1.0).raw_accuracy == 1.0
    assert Reward(0.3).raw_accuracy == 0.3


@pytest.mark.parametrize(
    "reward",
    [
        Reward(1.5),
        Reward(math.nan),
        Reward(math.inf),
        Reward(10**400),
        Reward(True),
        Reward("1"),
        Reward(None),
        Reward(0.5, accuracy=math.nan),
        Reward(0.5, accuracy="all"),
        Reward(0.5, resolved="yes"),
        Reward(0.5, parts={"a": math.nan}),
        Reward(0.5, parts={"a": "b"}),
        Reward(0.5, parts=None),
        Reward(0.5, detail={"a": object()}),
        Reward(0.5, detail={"a": math.inf}),
        Reward(0.5, detail="no mapping"),
        Reward(0.5, range=None),
        Reward(0.5, range=(0,)),
        Reward(0.5, range=("a", "b")),
        Reward(0.5, range=(0, math.nan)),
    ],
)
def test_what_cannot_be_a_reward_is_the_graders_fault(reward):
    with pytest.raises(PluginFault) as caught:
        reward.checked()
    assert caught.value.code == "bad_reward"
