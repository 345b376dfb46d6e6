"""The hooks of the math domain."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from raas_math.grading import grade
from raas_math.problem import Problem
from raas_math.prompting import opening_messages
from raas_math.settings import MathSettings
from raas_sdk import EmptyWorkspace, Failure, Host, Job, Policy, Reward, SandboxSpec, Trajectory, Workspace, hookimpl
from raas_sdk.agent import FINISH, THINK, converse

__all__ = ["raas_data_sources", "raas_eval", "raas_init", "raas_run", "raas_run_exception", "raas_settings"]

DATA_SOURCES = (
    "deepscaler",
    "math",
    "gsm8k",
    "openai/gsm8k",
    "lighteval/MATH",
    "DigitalLearningGmbH/MATH-lighteval",
    "HuggingFaceH4/MATH-500",
    "numina_*",
    "aime*",
)


@hookimpl
def raas_data_sources() -> Sequence[str]:
    """The math data sets that trainers send."""
    return DATA_SOURCES


@hookimpl
def raas_settings() -> type[BaseModel]:
    """See MathSettings."""
    return MathSettings


@hookimpl
async def raas_init(job: Job, host: Host) -> Workspace:
    """Refuse a malformed instance before a sandbox starts, then open one with IPython."""
    Problem.from_payload(job.instance.payload)
    settings: MathSettings = host.settings
    if not settings.sandbox:
        return EmptyWorkspace()
    return await host.open_workspace(SandboxSpec(preload=settings.preload), tools=["ipython"])


@hookimpl
async def raas_run(job: Job, host: Host, workspace: Workspace, policy: Policy) -> dict[str, Any]:
    """Let the policy think, compute and finish; hand in its finish message, else its last words."""
    settings: MathSettings = host.settings
    problem = Problem.from_payload(job.instance.payload)
    tools = (*workspace.tools, THINK, FINISH)
    talk = await converse(
        policy,
        workspace,
        opening_messages(problem.question, tools, tool_format=policy.tool_format, settings=settings),
        tools,
        tool_timeout_seconds=settings.tool_seconds,
        max_repeats=settings.max_repeats,
    )
    finished = talk.finish_message is not None
    return {
        "answer": talk.finish_message if finished else talk.last_text,
        "answer_from": "finish" if finished else "last_message",
        "stop_reason": talk.stop_reason,
    }


@hookimpl
async def raas_eval(job: Job, host: Host, trajectory: Trajectory) -> Reward:
    """Compare the answer with the reference; the grader runs in a process that can be killed."""
    settings: MathSettings = host.settings
    problem = Problem.from_payload(job.instance.payload)
    verdict = await host.grade(
        _grade,
        trajectory.submission["answer"],
        problem,
        settings,
        seconds=settings.grade_seconds,
        memory=settings.grade_memory_bytes,
    )
    detail = {
        "extracted": verdict.extracted,
        "reason": verdict.reason,
        "answer_from": trajectory.submission["answer_from"],
    }
    return Reward(
        float(verdict.correct), resolved=verdict.correct, parts={"correct": float(verdict.correct)}, detail=detail
    )


@hookimpl
def raas_run_exception(failure: Failure) -> Reward | None:
    """A policy that kills its sandbox in every attempt has given no answer: that scores 0, so that it never pays."""
    killed = failure.kind == "model" and failure.code == "sandbox_died"
    return Reward(0.0, resolved=False, detail={"reason": "sandbox_died"}) if killed else None


def _grade(answer: str, problem: Problem, settings: MathSettings) -> Any:
    return grade(
        answer,
        problem.golds,
        extraction=settings.extraction,
        rel_tolerance=settings.rel_tolerance,
        answer_type=problem.answer_type,
        finished=settings.finished,
    )
