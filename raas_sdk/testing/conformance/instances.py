"""Malformed instances: refused as a task error, before anything costly starts, and never graded."""

from collections.abc import Iterator, Mapping
from typing import Any

from raas_sdk.result import Outcome
from raas_sdk.testing.conformance.rig import Plan, Rig, Rollout

__all__ = ["check_instances"]

ADDRESS = ("data_source", "instance_id")
GARBAGE: tuple[Any, ...] = ("", [], {}, 8245.5, [["\u0000"]])
Case = tuple[str, dict[str, Any], bool]
"""What is wrong with it, the instance, and whether something is missing."""
REFUSE = "read the instance in raas_init, and raise an error that names the field"


async def check_instances(rig: Rig) -> None:
    """Leave out each field in turn, then put garbage there."""
    rig.findings.begin("malformed instances")
    for name in (name for name in rig.plan.instance if name not in ADDRESS):
        errors, found = rig.findings.errors, len(rig.findings)
        for what, instance, missing in (*_without(rig.plan, name), *_with_garbage(rig.plan.instance, name)):
            if rig.findings.errors == errors:  # one fault of a field tells enough, and one doubt
                await _check(rig, what, instance, missing=missing, quiet=len(rig.findings) > found)
    bare = {name: rig.plan.instance[name] for name in ADDRESS if name in rig.plan.instance}
    if len(bare) + 1 < len(rig.plan.instance):
        await _check(rig, "without any field", bare, missing=True)


async def _check(rig: Rig, what: str, instance: Mapping[str, Any], *, missing: bool, quiet: bool = False) -> None:
    rollout = await rig.rollout(instance=instance)
    result = rollout.result
    if result.reward is not None:
        _judge_reward(rig, what, rollout, missing=missing, quiet=quiet)
    elif result.outcome not in (Outcome.TASK_ERROR, Outcome.MODEL_LIMIT):
        hook = "raas_init" if result.failure is None else f"raas_{result.failure.stage}"
        rig.findings.error(hook, f"an instance {what} ends as {result.outcome}, not as task_error", REFUSE)
    elif missing and not quiet and result.outcome is Outcome.TASK_ERROR and (rollout.sandboxes or rollout.calls):
        spent = "a sandbox was opened" if rollout.sandboxes else "the policy was asked"
        rig.findings.warn("raas_init", f"an instance {what} is refused only after {spent}", REFUSE)


def _judge_reward(rig: Rig, what: str, rollout: Rollout, *, missing: bool, quiet: bool) -> None:
    good, reward = rig.good, rollout.result.reward
    assert good is not None and reward is not None
    if good.result.reward is None or reward >= good.result.reward:
        return
    failure = rollout.result.failure
    hook = "raas_eval" if failure is None else f"raas_{failure.stage}_exception"
    fault = f"an instance {what} is graded {reward:g}, not refused"
    if missing:
        rig.findings.error(hook, fault, f"{REFUSE}; or name the field in optional=")
    elif not quiet:
        rig.findings.warn(hook, fault, REFUSE)


def _without(plan: Plan, name: str) -> Iterator[Case]:
    if name not in plan.optional:
        yield f"without {name!r}", {key: value for key, value in plan.instance.items() if key != name}, True
        yield f"with {name!r} null", {**plan.instance, name: None}, True


def _with_garbage(instance: Mapping[str, Any], name: str) -> Iterator[Case]:
    for garbage in GARBAGE:
        if type(garbage) is not type(instance[name]):
            yield f"with {name!r} = {garbage!r}", {**instance, name: garbage}, False
