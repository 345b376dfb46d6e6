"""A rollout that goes well, and what its grade must depend on: instance, settings and submission alone."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from raas_sdk.result import Outcome, Result
from raas_sdk.testing.conformance.rig import PATIENT, Rig, Rollout
from raas_sdk.testing.conformance.watcher import Orders

__all__ = ["check_good_rollout", "check_regrading", "check_sharing"]

ADVICE = {
    "bad_reward": "return a finite number inside its range, Reward(value, range=(low, high))",
    "bad_return": "return what the hook's documentation says (docs/reference/hooks.md)",
    "raised_exit": "raise an ordinary exception; nothing in a plugin may end the process",
    "raised_cancelled": "never raise CancelledError yourself; raise an ordinary exception",
    "timeout": "bound every wait; raise patience_seconds if the work really takes that long",
    "grader_unpicklable": "give host.grade a function of a module, and plain data",
}
PURE = "EVAL may use the instance, host.settings and trajectory.submission only; put what it needs into the submission"
NO_SHARING = "keep what belongs to a job in local variables, in the workspace or in the submission"
DIFFERENT = "I would rather not say anything about that."


async def check_good_rollout(rig: Rig) -> bool:
    """Run the script twice; whether it was graded, so that more can be checked."""
    rig.findings.begin("a rollout with the given script")
    good = await rig.rollout()
    if good.result.reward is None or good.result.failure is not None:
        _explain(rig, good.result)
        return False
    rig.good = good
    rig.budget_seconds = min(rig.budget_seconds, max(2.0, 20 * good.result.timing.counted))
    if not good.result.reward:
        which = "the given script" if rig.plan.scripted else "no script was given, and 'I do not know.'"
        fault = f"{which} earns no reward, so that many faults cannot show"
        rig.findings.warn("raas_eval", fault, "give a script that solves the instance")
    if not good.result.trainable:
        advice = "sample from the policy; only what it said can be trained on"
        rig.findings.warn("raas_run", f"the rollout is not trainable: {good.result.mask_reason}", advice)
    return True


async def check_regrading(rig: Rig, when: str) -> bool:
    """Grade the same submission twice as fresh jobs; whether it got the same grade."""
    rig.findings.begin(f"grading stored work {when}")
    good = _good(rig)
    first, second = [await rig.regrade(good.result.trajectory.submission) for _ in range(2)]
    for again in (first, second):
        if again.result.reward is None:
            what = _failure_text(again.result)
            rig.findings.error("raas_eval", f"cannot grade stored work {when}, without INIT and RUN: {what}", PURE)
            return False
    if first.graded != second.graded:
        fault = f"is not deterministic: the same submission got {_shown(first)} and {_shown(second)}"
        rig.findings.error("raas_eval", fault, "grade without chance, clock or network; seed what must draw")
    elif first.graded != good.graded:
        fault = f"depends on more than the submission: {_shown(good)} after its RUN, {_shown(first)} {when}"
        rig.findings.error("raas_eval", fault, PURE)
    return first.graded == second.graded == good.graded


async def check_sharing(rig: Rig) -> None:
    """Let other jobs go by between the stages of one."""
    rig.findings.begin("another job between the stages of one")
    good = _good(rig)
    again = await rig.rollout()
    if again.result.reward is None:
        _explain(rig, again.result)
        return
    same = again.result.trajectory.submission == good.result.trajectory.submission
    for hook in ("raas_run", "raas_eval"):
        beside = await rig.rollout(orders=Orders(before={hook: _others(rig)}), limits=PATIENT)
        if beside.result.reward is None:
            fault = f"fails when another job ran before it: {_failure_text(beside.result)}"
            rig.findings.error(hook, fault, NO_SHARING)
        elif same and beside.result.trajectory.submission != good.result.trajectory.submission:
            rig.findings.error("raas_run", "mixes up jobs: another job changed this one's submission", NO_SHARING)
        elif same and beside.graded != good.graded and again.graded == good.graded:
            fault = f"mixes up jobs: {_shown(good)} alone, {_shown(beside)} beside another job"
            rig.findings.error("raas_eval", fault, NO_SHARING)


def _others(rig: Rig) -> Callable[[], Awaitable[None]]:
    """Jobs with other replies, and with another instance, at once."""

    async def run() -> None:
        replies = [DIFFERENT] * len(rig.plan.replies)
        for instance in (rig.plan.instance, _turned(rig.plan.instance)):
            await rig.rollout(replies, instance=instance, nested=True)

    return run


def _turned(instance: Any) -> dict[str, Any]:
    """The instance with other texts in it."""
    kept = ("data_source", "instance_id")
    return {
        key: value[::-1] if isinstance(value, str) and key not in kept else value for key, value in instance.items()
    }


def _explain(rig: Rig, result: Result) -> None:
    failure = result.failure
    if any(step.ended_by_force for step in rig.clock.blocked):
        return
    if failure is None:
        rig.findings.error("raas_eval", f"the rollout ended as {result.outcome} without a reward", "return a Reward")
    elif result.outcome is Outcome.MODEL_LIMIT:
        advice = "catch LimitReached in raas_run and return what there is; or give a script of more replies"
        rig.findings.error(
            f"raas_{failure.stage}", f"hands in nothing at the end of the script: {failure.message}", advice
        )
    else:
        advice = ADVICE.get(
            failure.code, "see the traceback: raas debug with the same instance and --policy scripted:FILE"
        )
        hook = f"raas_{failure.stage}"
        if result.reward is not None:
            hook += "_exception"
        rig.findings.error(hook, f"{result.outcome}: {failure.message}", advice)


def _failure_text(result: Result) -> str:
    failure = result.failure
    return str(result.outcome) if failure is None else f"{failure.stage}/{failure.code}: {failure.message}"


def _shown(rollout: Rollout) -> str:
    return f"reward {rollout.result.reward:g}" if rollout.result.reward is not None else "no reward"


def _good(rig: Rig) -> Rollout:
    assert rig.good is not None
    return replace(rig.good)
