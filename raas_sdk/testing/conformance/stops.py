"""Being stopped: a cancel wherever a stage waits, budgets that end, limits that are reached."""

from collections.abc import Callable, Iterator, Sequence

from raas_sdk.result import Outcome
from raas_sdk.testing.conformance.rig import PATIENT, Rig, Rollout
from raas_sdk.testing.conformance.watcher import Orders
from raas_sdk.testing.faults import Faults

__all__ = ["check_cancels", "check_limits", "check_time_outs"]

STAGES = ("raas_init", "raas_run", "raas_eval")
MOST_CANCELS = 6
SHORT_SECONDS = 0.1
LEAST_SECONDS = 0.001
OWN_WAIT = "a wait of its own"
HAND_IN = "catch LimitReached in raas_run, stop sampling, and return what there is"


async def check_cancels(rig: Rig) -> None:
    """Cancel at each place where a stage waits (at most so many, spread evenly)."""
    assert rig.good is not None
    for hook in STAGES:
        rig.findings.begin(f"cancel inside {hook}")
        before = len(rig.findings)
        for place in _spread(rig.good.waits(hook)):
            await rig.rollout(orders=Orders(on_wait=_cancelling(rig, hook, place)), limits=PATIENT)
            if len(rig.findings) > before:
                break


async def check_time_outs(rig: Rig) -> None:
    """Let each thing that a stage asks for hang until the stage's budget is over."""
    for hook, point in _points(rig):
        rig.findings.begin(f"{hook} runs out of time in {point}")
        seconds = LEAST_SECONDS if point == OWN_WAIT else SHORT_SECONDS
        limits = {f"{hook.removeprefix('raas_')}_seconds": seconds, "collect_seconds": seconds}
        if point == "sample":
            rollout = await rig.rollout(limits=limits, faults=Faults(always="hang"))
        else:
            with rig.trap.armed(point, "hang"):
                rollout = await rig.rollout(limits=limits)
        _judge_time_out(rig, hook, point, rollout)


async def check_limits(rig: Rig) -> None:
    """Raise LimitReached out of each sample()."""
    assert rig.good is not None
    for turn in range(rig.good.result.usage.turns):
        rig.findings.begin(f"LimitReached at turn {turn + 1}")
        limits = {"max_model_len": 1} if turn == 0 else {"max_turns": turn}
        before = len(rig.clock.blocked)
        rollout = await rig.rollout(limits=limits)
        forced = [step for step in rig.clock.blocked[before:] if step.ended_by_force]
        _judge_limit(rig, turn, rollout, endless=bool(forced))
        if forced:
            return


def _judge_limit(rig: Rig, turn: int, rollout: Rollout, *, endless: bool) -> None:
    result, place = rollout.result, f"LimitReached at turn {turn + 1}"
    if endless or result.outcome is Outcome.TIMEOUT:
        rig.findings.error("raas_run", f"goes on for ever after {place}", HAND_IN)
    elif result.outcome is Outcome.MODEL_LIMIT:
        if result.reward is None and turn > 0:
            rig.findings.warn("raas_run", f"hands in nothing after {place}", HAND_IN)
    elif result.failure is not None:
        rig.findings.error(
            f"raas_{result.failure.stage}", f"{place} ends as {result.outcome}: {result.failure.message}", HAND_IN
        )


def _judge_time_out(rig: Rig, hook: str, point: str, rollout: Rollout) -> None:
    result = rollout.result
    if result.reward is None or result.outcome is Outcome.MODEL_LIMIT or point in ("call", OWN_WAIT):
        return
    fault = f"a {point} that hung until the budget was over became a reward of {result.reward:g}"
    rig.findings.error(hook, fault, "let the error of a call that did not end go up")


def _points(rig: Rig) -> Iterator[tuple[str, str]]:
    """What the good rollout asked for, stage by stage."""
    assert rig.good is not None
    met = [pair for pair in rig.trap.met if pair[0] in STAGES]
    met += [("raas_run", "sample")] if rig.good.calls else []
    yield from met
    asking = {hook for hook, _ in met}
    for hook in STAGES:
        if rig.good.waits(hook) and hook not in asking:
            yield hook, OWN_WAIT


def _cancelling(rig: Rig, hook: str, place: int) -> Callable[[str, int], None]:
    def on_wait(which: str, number: int) -> None:
        if (which, number) == (hook, place):
            rig.cancel_now()

    return on_wait


def _spread(waits: int) -> Sequence[int]:
    if waits <= MOST_CANCELS:
        return range(1, waits + 1)
    return sorted({1 + place * (waits - 1) // (MOST_CANCELS - 1) for place in range(MOST_CANCELS)})
