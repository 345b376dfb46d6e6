"""What every rollout is looked over for, however it was made to end."""

from collections.abc import Sequence

from raas_sdk.result import Result
from raas_sdk.testing.conformance.report import Findings
from raas_sdk.testing.conformance.watcher import Visit

__all__ = ["review"]

LET_CANCEL_PASS = "let CancelledError pass: clean up in 'finally', never 'except BaseException' around an await"


def review(result: Result, visits: Sequence[Visit], findings: Findings) -> None:
    """Note what a plugin did wrong whatever became of the job."""
    for visit in visits:
        if visit.swallowed is not None:
            findings.error(visit.hook, f"swallows its cancel: it {visit.swallowed} instead", LET_CANCEL_PASS)
        if visit.changed_payload:
            advice = "copy the payload before you change it; what EVAL needs goes into the submission"
            findings.warn(visit.hook, "changes job.instance.payload", advice)
    for note in result.extra.get("notes", ()):
        if "ignored its cancel" in note:
            stage = str(note).split()[1]
            findings.error(f"raas_{stage}", "ignores its cancel and does not stop", LET_CANCEL_PASS)
    refused = result.extra.get("final_result_error")
    if refused:
        findings.error("raas_final_result", str(refused), "return replace(result, reward_parts=…, extra=…) or None")
    if result.failure is not None and result.failure.also:
        hook = f"raas_{result.failure.stage}_exception"
        if not findings.accused(hook):
            findings.error(hook, result.failure.also[-1], "return a Reward, a Failure or None for any error")
