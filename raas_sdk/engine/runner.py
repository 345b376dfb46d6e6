"""A whole job: attempts until one ends it, then the verdict. The order of decisions stands here and nowhere else.

classify → infra retry (fresh attempt, no hook) → exception hook → default; then raas_final_result.
"""

import logging
from dataclasses import replace

from raas_sdk.engine.attempt import Attempt, AttemptServices, StageFault
from raas_sdk.engine.clock import JobClock
from raas_sdk.engine.record import build_result
from raas_sdk.job import Job, Stage
from raas_sdk.json_data import json_copy
from raas_sdk.result import Failure, Outcome, Result
from raas_sdk.reward import Reward
from raas_sdk.verdict import classify, outcome_of

__all__ = ["Runner"]

log = logging.getLogger(__name__)

SANDBOX_DIED = "sandbox_died"
ADDABLE = ("reward_parts", "extra")


class Runner:
    """Runs one job on this engine."""

    __slots__ = ("_clock", "_failures", "_route", "_services", "attempt")

    def __init__(self, job: Job, services: AttemptServices, clock: JobClock) -> None:
        self._services = services
        self._clock = clock
        self._failures: list[Failure] = []
        self._route = services.plugins.route(job.data_source)
        job.instance.digest  # noqa: B018 - kept from now on, whatever a plugin does to the payload
        self.attempt = Attempt(job, services, self._clock)

    async def run(self) -> Result:
        """Try until an attempt ends the job; only a cancel raises."""
        while True:
            try:
                await self.attempt.run()
            except StageFault as fault:
                self._failures.append(classify(fault.error, stage=fault.stage.value))
                if not self._may_try_again():
                    return self._final(self._failed(fault))
                self._begin_again()
            else:
                return self._final(self._scored())

    def cancelled(self) -> Result:
        """The record of a job that was cancelled now; calls no hook."""
        stage = self.attempt.stage.value
        failure = Failure(stage=stage, kind="cancelled", code="cancelled", message="the job was cancelled")
        return self._build(Outcome.CANCELLED, None, failure)

    def _may_try_again(self) -> bool:
        last, job = self._failures[-1], self.attempt.job
        return last.kind == "infra" and last.retryable and job.attempt <= job.limits.infra_retries

    def _begin_again(self) -> None:
        earlier = self.attempt.notes
        self.attempt = Attempt(self.attempt.job.next_attempt(), self._services, self._clock)
        self.attempt.notes.extend(earlier)

    def _scored(self) -> Result:
        policy = self.attempt.policy
        limited = policy is not None and policy.limit_reason is not None
        return self._build(Outcome.MODEL_LIMIT if limited else Outcome.SCORED, self.attempt.reward, None)

    def _failed(self, fault: StageFault) -> Result:
        failure = self._blamed()
        if failure.kind == "timeout":
            return self._build(Outcome.TIMEOUT, None, failure)
        decision: Reward | Failure | None = None
        try:
            trajectory = self.attempt.trajectory()
            decision = self._route.on_exception(fault.stage, self.attempt.job, fault.error, trajectory, failure=failure)
        except Exception as second:
            log.exception("an exception hook raised", extra={"job_id": self.attempt.job.job_id})
            what = classify(second, stage=fault.stage.value).message
            failure = replace(failure, also=(*failure.also, f"exception hook: {what}"))
        if isinstance(decision, Reward):
            limited = failure.kind == "model"
            return self._build(Outcome.MODEL_LIMIT if limited else Outcome.SCORED, decision, failure)
        failure = failure if decision is None else decision
        return self._build(outcome_of(failure), None, failure)

    def _blamed(self) -> Failure:
        """The last failure; a sandbox that died in RUN on every attempt is the policy's doing."""
        last = self._failures[-1]
        always = all(f.code == SANDBOX_DIED and f.stage == Stage.RUN.value for f in self._failures)
        return replace(last, kind="model", retryable=False) if always else last

    def _final(self, result: Result) -> Result:
        try:
            answer = self._route.final_result(self.attempt.job, result)
        except Exception as error:
            log.exception("raas_final_result raised", extra={"job_id": result.job_id})
            return _refused(result, f"raas_final_result: {classify(error, stage='final').message}")
        return result if answer is None else _with_additions(result, answer)

    def _build(self, outcome: Outcome, reward: Reward | None, failure: Failure | None) -> Result:
        if len(self._failures) > 1 or (self._failures and failure is None):
            earlier = [f"attempt {n}: {f.stage}/{f.code}: {f.message}" for n, f in enumerate(self._failures, 1)]
            self.attempt.notes.extend(note for note in earlier if note not in self.attempt.notes)
        return build_result(self.attempt, outcome=outcome, reward=reward, failure=failure)


def _with_additions(result: Result, answer: Result) -> Result:
    """Take reward_parts and extra from the hook's answer; say so if it changed more."""
    try:
        added = {name: json_copy(dict(getattr(answer, name))) for name in ADDABLE}
    except (TypeError, ValueError) as error:
        return _refused(result, f"raas_final_result must add plain data: {error}")
    changed = replace(result, **added)
    if replace(answer, **added) != changed:
        return _refused(changed, "raas_final_result may change reward_parts and extra only; the rest was refused")
    return changed


def _refused(result: Result, note: str) -> Result:
    return replace(result, extra={**result.extra, "final_result_error": note})
