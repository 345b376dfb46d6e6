"""Other people's faults: an inference server, a sandbox, a tool or a grading worker that fails is never a reward."""

from raas_sdk.errors import GraderFault, WorkspaceFault
from raas_sdk.result import Outcome
from raas_sdk.testing.conformance.rig import Rig, Rollout
from raas_sdk.testing.faults import Fault, Faults
from raas_sdk.workspace import Observation

__all__ = ["check_backend_faults", "check_grader_fault", "check_sandbox_faults"]

LET_GO_UP = "do not catch it, or raise it again ('raise … from error'): it says nothing about the policy"
SANDBOX = ("open", "call", "exec", "read", "write")


async def check_backend_faults(rig: Rig) -> None:
    """Let the inference server refuse each turn."""
    assert rig.good is not None
    for turn in range(rig.good.calls):
        rig.findings.begin(f"the inference server fails at turn {turn + 1}")
        faults = Faults(always=Fault("status", status=400, text="the check was told to fail"))
        faults.pass_next(turn)
        rollout = await rig.rollout(faults=faults)
        _judge(rig, "raas_run", f"a backend fault at turn {turn + 1}", rollout)


async def check_sandbox_faults(rig: Rig) -> None:
    """Let the sandbox die at each kind of call, and let tools fail."""
    used = {(hook, point) for hook, point in rig.trap.met if point in SANDBOX and hook.startswith("raas_")}
    for hook, point in sorted(used):
        rig.findings.begin(f"the sandbox dies in {point} of {hook}")
        fault = WorkspaceFault("the check ended this sandbox", code="check_died", retryable=False)
        with rig.trap.armed(point, fault):
            _judge(rig, hook, f"a sandbox that died in {point}", await rig.rollout())
    if ("raas_run", "call") in used:
        rig.findings.begin("every tool call fails")
        with rig.trap.armed("call", Observation("the check let this tool fail", error=True, exit_code=1)):
            _judge_failed_tool(rig, await rig.rollout())


async def check_grader_fault(rig: Rig) -> None:
    """Let host.grade fail for no reason that the submission gave."""
    if rig.trap.met["raas_eval", "grade"]:
        rig.findings.begin("the grading worker fails")
        with rig.trap.armed("grade", GraderFault("the check closed the grading workers", code="grader_closed")):
            rollout = await rig.rollout()
        _judge(rig, "raas_eval", "a grader fault", rollout, infra=False)


def _judge(rig: Rig, hook: str, what: str, rollout: Rollout, *, infra: bool = True) -> None:
    result = rollout.result
    if result.reward is not None:
        by = f"{hook}_exception" if result.failure is not None else hook
        recovered = rig.good is not None and rollout.graded == rig.good.graded and result.reward > 0
        if not recovered:
            rig.findings.error(by, f"turns {what} into a reward of {result.reward:g}", LET_GO_UP)
    elif infra and result.outcome not in (Outcome.INFRA_ERROR, Outcome.MODEL_LIMIT):
        shown = "" if result.failure is None else f": {result.failure.message}"
        rig.findings.warn(hook, f"hides {what}: the job ended as {result.outcome}{shown}", LET_GO_UP)


def _judge_failed_tool(rig: Rig, rollout: Rollout) -> None:
    result = rollout.result
    if result.outcome not in (Outcome.SCORED, Outcome.MODEL_LIMIT):
        shown = "" if result.failure is None else f": {result.failure.message}"
        advice = "show the policy Observation.text and go on; a failing tool call is its own doing"
        rig.findings.error("raas_run", f"a failing tool call ends the job as {result.outcome}{shown}", advice)
