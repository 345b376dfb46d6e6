"""Malformed instances: refused as a task error, before anything costly starts, and never graded."""

from collections.abc import Iterator, Mapping
from typing import Any

from raas_sdk.result import Outcome
from raas_sdk.testing.conformance.rig import Rig, Rollout

__all__ = ["check_instances"]

ADDRESS = ("data_source", "instance_id")
GARBAGE: tuple[Any, ...] = ("", [], {}, 8245.5, [["\u0000"]])
REFUSE = "read the instance in raas_init, and raise an error that names the field"


async def check_instances(rig: Rig) -> None:
    """Leave out each field in turn, then put garbage there."""
    rig.findings.begin("malformed instances")
    for what, instance in _without(rig.plan.instance, rig.plan.optional):
        await _check(rig, what, instance, missing=True)
    for what, instance in _with_garbage(rig.plan.instance):
        await _check(rig, what, instance, missing=False)


async def _check(rig: Rig, what: str, instance: Mapping[str, Any], *, missing: bool) -> None:
    rollout = await rig.rollout(instance=instance)
    result = rollout.result
    if result.reward is not None:
        _judge_reward(rig, what, rollout, missing=missing)
    elif result.outcome not in (Outcome.TASK_ERROR, Outcome.MODEL_LIMIT):
        hook = "raas_init" if result.failure is None else f"raas_{result.failure.stage}"
        rig.findings.error(hook, f"an instance {what} ends as {result.outcome}, not as task_error", REFUSE)
    elif missing and result.outcome is Outcome.TASK_ERROR and (rollout.sandboxes or rollout.calls):
        spent = "a sandbox was opened" if rollout.sandboxes else "the policy was asked"
        rig.findings.warn("raas_init", f"an instance {what} is refused only after {spent}", REFUSE)


def _judge_reward(rig: Rig, what: str, rollout: Rollout, *, missing: bool) -> None:
    good, reward = rig.good, rollout.result.reward
    assert good is not None and reward is not None
    if good.result.reward is None or reward >= good.result.reward:
        return
    fault = f"an instance {what} is graded {reward:g}, not refused"
    if missing:
        rig.findings.error("raas_eval", fault, f"{REFUSE}; or name the field in optional=")
    else:
        rig.findings.warn("raas_eval", fault, REFUSE)


def _without(instance: Mapping[str, Any], optional: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    fields = [name for name in instance if name not in ADDRESS and name not in optional]
    for name in fields:
        yield f"without {name!r}", {key: value for key, value in instance.items() if key != name}
        yield f"with {name!r} null", {**instance, name: None}
    if len(fields) > 1:
        yield "without any field", {key: value for key, value in instance.items() if key not in fields}


def _with_garbage(instance: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in instance.items():
        if name not in ADDRESS:
            for garbage in GARBAGE:
                if type(garbage) is not type(value):
                    yield f"with {name!r} = {garbage!r}", {**instance, name: garbage}
