"""classify, infra retry, exception hook, default: what each failure becomes, and who is asked."""

import asyncio
import math
from dataclasses import replace

import pytest

from raas_sdk import EmptyWorkspace, Failure, Reward


class Lost(Exception):
    raas_kind, code, retryable = "infra", "node_lost", True


class Died(Exception):
    raas_kind, code, retryable = "infra", "sandbox_died", True


def raising(error):
    async def stage(self):
        raise error

    return stage


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
async def test_a_stage_that_raises_is_a_task_error_that_names_stage_and_type(service, task, stage):
    async with service(task(**{stage: raising(KeyError("gold"))})) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.trainable) == ("task_error", None, False)
        assert (result.failure.stage, result.failure.kind, result.failure.code) == (stage, "task", "KeyError")
        assert "'gold'" in result.failure.message and "KeyError" in result.failure.traceback
        assert result.usage.turns == (1 if stage == "eval" else 0)


async def test_what_was_sampled_before_a_fault_is_kept(service, task):
    async def run(self, policy):
        talk = policy.conversation([{"role": "user", "content": "hi"}])
        for _ in range(3):
            await talk.sample()
            talk.append({"role": "user", "content": "go on"})
        raise ValueError("after three turns")

    async with service(task(run=run)) as s:
        result = await s.result()
        assert result.outcome == "task_error" and result.trajectory.num_turns == 3
        assert result.trajectory.sampled_tokens == 9 and len(result.trajectory.messages) == 7
        assert result.mask_reason == "outcome_task_error"


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
async def test_an_infra_fault_is_tried_afresh_without_asking_the_plugin(service, task, stage):
    attempts, asked = [], []

    async def flaky(self, job):
        attempts.append(job.attempt)
        if job.attempt < 3:
            raise Lost(f"lost {job.attempt}")
        return {"init": EmptyWorkspace(), "run": "x", "eval": Reward(1.0)}[stage]

    def ask(self, job, error):
        asked.append(job.attempt)

    async with service(task(**{stage: flaky, f"{stage}_exception": ask})) as s:
        result = await s.result()
        assert result.outcome == "scored" and result.attempt == 3 and result.failure is None
        assert attempts == [1, 2, 3] and not asked
        notes = result.extra["notes"]
        assert [note[:10] for note in notes] == ["attempt 1:", "attempt 2:"] and "lost 1" in notes[0]


async def test_when_no_attempt_is_left_the_hook_is_asked_once_and_then_the_default_holds(service, task):
    asked = []

    def ask(self, job, error):
        asked.append((job.attempt, str(error)))

    async with service(task(run=raising(Lost("gone")), run_exception=ask)) as s:
        result = await s.result(limits={"infra_retries": 1})
        assert (result.outcome, result.failure.code, result.attempt) == ("infra_error", "node_lost", 2)
        assert asked == [(2, "gone")]
        assert "attempt 1: run/node_lost" in result.extra["notes"][0]


async def test_a_fault_that_no_retry_mends_is_not_tried_again(service, task):
    class Final(Lost):
        retryable = False

    async with service(task(run=raising(Final("x")))) as s:
        result = await s.result()
        assert (result.outcome, result.attempt) == ("infra_error", 1)


async def test_retried_attempts_are_sampled_with_other_seeds(service, task):
    async def run(self, job, policy):
        talk = policy.conversation([{"role": "user", "content": "hi"}])
        await talk.sample()
        if job.attempt == 1:
            raise Lost("x")
        return 1

    async with service(task(run=run)) as s:
        await s.result(sampling={"seed": 5})
        seeds = [call.params["sampling_params"]["seed"] for call in s.backends[0].calls]
        assert len(seeds) == len(set(seeds)) == 2


HOOKS = ["init", "run", "eval"]


@pytest.mark.parametrize("stage", HOOKS)
async def test_a_hook_may_give_a_fair_score_for_a_failed_stage(service, task, stage):
    decide = {f"{stage}_exception": lambda self: Reward(0.0, detail={"why": "patch does not apply"})}
    async with service(task(**{stage: raising(ValueError("x"))}, **decide)) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.resolved) == ("scored", 0.0, False)
        assert result.failure.code == "ValueError" and result.reward_detail == {"why": "patch does not apply"}
        assert result.trainable is (stage == "eval")


@pytest.mark.parametrize("stage", HOOKS)
async def test_a_hook_may_call_the_failure_by_another_name(service, task, stage):
    decide = {f"{stage}_exception": lambda self: Failure(stage, "infra", "disk_full", "no space left")}
    async with service(task(**{stage: raising(OSError("x"))}, **decide)) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.failure.code) == ("infra_error", None, "disk_full")


@pytest.mark.parametrize("stage", HOOKS)
@pytest.mark.parametrize(
    "decide",
    [
        lambda self: 1 / 0,
        lambda self: "reward",
        lambda self: Reward(math.nan),
        lambda self: Failure("run", "no kind", "c", "m"),
        lambda self: (_ for _ in ()).throw(SystemExit(3)),
        lambda self: (_ for _ in ()).throw(asyncio.CancelledError()),
    ],
    ids=["raises", "garbage", "nan", "no kind", "exits", "cancels"],
)
async def test_the_first_error_is_reported_together_with_that_of_the_hook(service, task, stage, decide):
    async with service(task(**{stage: raising(ValueError("first")), f"{stage}_exception": decide})) as s:
        result = await s.result()
        assert (result.outcome, result.reward) == ("task_error", None)
        assert "first" in result.failure.message
        (also,) = result.failure.also
        assert also.startswith("exception hook: ")


@pytest.mark.parametrize(
    "reward",
    [
        Reward(1.5),
        Reward(-0.5),
        Reward(math.nan),
        Reward(True),
        Reward("1"),
        Reward(1.0, detail={"x": object()}),
        None,
        1,
    ],
)
async def test_what_is_no_reward_is_a_task_error_of_eval_and_never_0(service, task, reward):
    async def evaluate(self):
        return reward

    async with service(task(eval=evaluate)) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.failure.stage) == ("task_error", None, "eval")


async def test_a_reward_with_a_range_of_its_own_passes(service, task):
    async def evaluate(self):
        return Reward(-0.5, range=(-1, 1), accuracy=0.25, parts={"style": -0.75})

    async with service(task(eval=evaluate)) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.accuracy) == ("scored", -0.5, 0.25)
        assert result.reward_parts == {"style": -0.75} and result.trainable


@pytest.mark.parametrize("stage", ["init", "run", "eval"])
@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), BaseException("odd")])
async def test_nothing_a_stage_raises_hurts_another_job(service, task, stage, error):
    async def stage_of(self, job):
        await asyncio.sleep(0)
        if job.job_id == "bad":
            raise error
        return {"init": EmptyWorkspace(), "run": "x", "eval": Reward(1.0)}[stage]

    async with service(task(**{stage: stage_of})) as s:
        jobs = [s.submit(name) for name in ("good1", "bad", "good2")]
        outcomes = [(await job.done).outcome for job in jobs]
        assert outcomes == ["scored", "task_error", "scored"]


async def test_a_sandbox_that_dies_on_every_attempt_is_the_policys_doing(service, task):
    async with service(task(run=raising(Died("killed")))) as s:
        result = await s.result()
        assert (result.outcome, result.failure.code, result.attempt) == ("model_limit", "sandbox_died", 3)
        assert result.reward is None and result.mask_reason == "no_reward"


async def test_a_sandbox_that_died_and_then_another_fault_stays_an_infra_error(service, task):
    async def run(self, job):
        raise Died("killed") if job.attempt < 3 else Lost("node")

    async with service(task(run=run)) as s:
        result = await s.result()
        assert (result.outcome, result.failure.code) == ("infra_error", "node_lost")


async def test_a_sandbox_that_dies_in_init_is_never_the_policys_doing(service, task):
    async with service(task(init=raising(Died("killed")))) as s:
        assert (await s.result()).outcome == "infra_error"


async def test_a_hook_may_score_a_sandbox_that_died(service, task):
    async with service(task(run=raising(Died("killed")), run_exception=lambda self: Reward(0.0))) as s:
        result = await s.result()
        assert (result.outcome, result.reward) == ("model_limit", 0.0)


@pytest.mark.parametrize("way", ["scored", "init", "run", "eval", "timeout", "retry"])
async def test_final_result_is_asked_once_on_every_way_to_an_end(service, task, way):
    asked = []

    async def maybe(self, job):
        if way == "timeout":
            await asyncio.Event().wait()
        if way != "retry" or job.attempt == 1:
            raise Lost("x") if way == "retry" else ValueError("x")

    async def good_run(self, job):
        if way in ("timeout", "run", "retry"):
            await maybe(self, job)
        return 1

    def final(self, job, result):
        asked.append(result.outcome)
        return replace(result, extra={**result.extra, "seen": len(asked)}, reward_parts={"shape": 0.5})

    hooks = {"run": good_run, "final_result": final}
    if way in ("init", "eval"):
        hooks[way] = raising(ValueError("x"))
    async with service(task(**hooks)) as s:
        result = await s.result(limits={"run_seconds": 0.02, "collect_seconds": 0.02} if way == "timeout" else None)
        assert asked == [result.outcome]
        assert result.extra["seen"] == 1 and result.reward_parts == {"shape": 0.5}


@pytest.mark.parametrize(
    "change",
    [{"reward": 1.0}, {"outcome": "scored"}, {"trainable": True}, {"job_id": "other"}, {"failure": None}],
)
async def test_final_result_may_change_nothing_else(service, task, change):
    def final(self, result):
        return replace(result, extra={"mine": 1}, **change)

    async with service(task(eval=raising(ValueError("x")), final_result=final)) as s:
        result = await s.result("j")
        assert (result.outcome, result.reward, result.trainable, result.job_id) == ("task_error", None, False, "j")
        assert result.failure.code == "ValueError" and result.extra["mine"] == 1
        assert "refused" in result.extra["final_result_error"]


@pytest.mark.parametrize(
    "final",
    [
        lambda self, result: 1 / 0,
        lambda self, result: {"outcome": "scored"},
        lambda self, result: replace(result, extra={"x": object()}),
        lambda self, result: replace(result, extra={"x": {1, 2}}),
        lambda self, result: replace(result, reward_parts={"x": math.nan}),
        lambda self, result: replace(result, extra=None),
        lambda self, result: (_ for _ in ()).throw(KeyboardInterrupt()),
    ],
    ids=["raises", "dict", "object", "set", "nan", "none", "interrupts"],
)
async def test_a_final_result_of_no_use_is_noted_and_the_result_stands(service, task, final):
    async with service(task(final_result=final)) as s:
        result = await s.result()
        assert (result.outcome, result.reward, result.trainable) == ("scored", 1.0, True)
        assert result.extra["final_result_error"]


@pytest.mark.parametrize("value", [10**30, [-(2**80), {"n": 2**64}]])
async def test_integers_of_any_size_pass_through_instance_and_submission(service, task, value):
    async def run(self, job):
        return {"given": job.instance.payload["gold"], "own": value}

    async def evaluate(self, job, trajectory):
        return Reward(float(trajectory.submission["given"] == value), detail={"gold": value})

    async with service(task(run=run, eval=evaluate)) as s:
        result = await s.result(instance={"gold": value})
        assert (result.outcome, result.reward) == ("scored", 1.0)
        assert result.trajectory.submission == {"given": value, "own": value}
        assert result.reward_detail == {"gold": value}


async def test_one_bad_job_of_a_hundred_leaves_ninety_nine(service, task):
    async def run(self, job):
        if job.job_id == "j50":
            raise ValueError("only mine")
        return 1

    async with service(task(run=run)) as s:
        jobs = [s.submit(f"j{n}") for n in range(100)]
        results = [await job.done for job in jobs]
        bad = [result for result in results if result.outcome != "scored"]
        assert len(bad) == 1 and "only mine" in bad[0].failure.traceback


async def test_a_plugin_that_changes_its_instance_does_not_change_what_was_accepted(service, task):
    async def run(self, job):
        job.instance.payload["prompt"] = "another"

    async with service(task(run=run)) as s:
        job = s.submit(instance={"prompt": "mine"})
        assert (await job.done).instance_digest == job.job.instance.digest
        assert job.job.instance.payload["prompt"] == "mine"


async def test_a_run_that_rewrites_the_instance_is_not_graded(service, task):
    async def rewrites(self, job):
        job.instance.payload["gold"] = "mine"

    async with service(task(run=rewrites)) as s:
        result = await s.result("j", instance={"gold": "theirs"})
    assert (result.outcome, result.reward, result.failure.code) == ("task_error", None, "instance_changed")
    assert result.failure.stage == "eval"
