"""The exception hooks, asked about errors of every kind."""

from raas_sdk.errors import BackendUnreachable, GraderFault, LimitReached, WorkspaceFault
from raas_sdk.gateway import admit
from raas_sdk.job import Stage
from raas_sdk.reward import Reward
from raas_sdk.testing.conformance.rig import Rig
from raas_sdk.trajectory import Trajectory
from raas_sdk.verdict import classify

__all__ = ["check_decisions"]

ANY_ERROR = "return a Reward, a Failure or None for any error and any trajectory, also one without turns"


class Unprintable(Exception):
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError("this error has no text")


async def check_decisions(rig: Rig) -> None:
    """Ask each exception hook that the plugin has."""
    for stage in Stage:
        hook = f"raas_{stage.value}_exception"
        if rig.subject.implements(rig.plugins, hook):
            rig.findings.begin(f"{hook} for made-up errors")
            cases = [(error, trajectory) for error in _errors() for trajectory in _trajectories(rig)]
            next((case for case in cases if not _ask(rig, stage, *case)), None)  # one fault tells enough


def _ask(rig: Rig, stage: Stage, error: Exception, trajectory: Trajectory) -> bool:
    """Ask once; whether the answer can be used."""
    hook, failure = f"raas_{stage.value}_exception", classify(error, stage=stage.value)
    job = admit({"instance": rig.plan.instance}, rig.settings).job
    route = rig.plugins.route(job.data_source)
    try:
        with rig.clock.step(hook):
            decision = route.on_exception(stage, job, error, trajectory, failure=failure)
    except Exception as fault:  # noqa: BLE001 - foreign code; what it raised is the finding
        text = classify(fault, stage=stage.value).message
        rig.findings.error(hook, f"for {type(error).__name__}: {text}", ANY_ERROR)
        return False
    if failure.kind == "infra" and isinstance(decision, Reward):
        fault_text = f"gives a reward of {decision.value:g} for {type(error).__name__}, which is no fault of the policy"
        rig.findings.error(hook, fault_text, "return None where failure.kind is 'infra'")
        return False
    return True


def _errors() -> list[Exception]:
    return [
        RuntimeError("made up by the check"),
        KeyError("made_up"),
        Unprintable(),
        WorkspaceFault("made up by the check"),
        BackendUnreachable("made up by the check"),
        GraderFault("made up by the check"),
        LimitReached("turns"),
    ]


def _trajectories(rig: Rig) -> list[Trajectory]:
    return [Trajectory()] if rig.good is None else [Trajectory(), rig.good.result.trajectory]
