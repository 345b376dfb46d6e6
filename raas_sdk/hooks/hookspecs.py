"""Every hook a plugin may implement. Arguments are only ever added; take the ones you want.

Registration and lifecycle hooks are called on each plugin for itself. Stage and decision hooks have exactly one
implementation per data source; cross-cutting plugins may wrap them (`hookimpl(wrapper=True)`): the wrapper of a
stage gets the awaitable and returns one.
"""

from collections.abc import Awaitable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy
from pydantic import BaseModel

from raas_sdk.job import Job, Stage
from raas_sdk.policy import Policy, Turn
from raas_sdk.result import Failure, Result
from raas_sdk.reward import Reward
from raas_sdk.trajectory import Trajectory
from raas_sdk.workspace import Workspace

if TYPE_CHECKING:
    from raas_sdk.hooks.host import Host

__all__ = [
    "PROJECT",
    "hookimpl",
    "raas_data_sources",
    "raas_eval",
    "raas_eval_exception",
    "raas_final_result",
    "raas_init",
    "raas_init_exception",
    "raas_job_finished",
    "raas_job_started",
    "raas_run",
    "raas_run_exception",
    "raas_settings",
    "raas_shutdown",
    "raas_stage_finished",
    "raas_startup",
    "raas_turn_finished",
]

PROJECT = "raas"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def raas_data_sources() -> Iterable[str] | None:
    """Name the data sources this plugin serves.

    When: once, at load. Returns: names; `*` and `?` make a glob (`deepcoder_*`). Exact names beat globs, two
    plugins claiming the same are refused. Declaring this makes a plugin a task plugin: `raas_run` and
    `raas_eval` are then required. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_settings() -> type[BaseModel] | None:
    """Declare the plugin's own settings.

    When: once, at load. Returns: a pydantic model class, filled from `[plugins.NAME]` of raas.toml and handed
    back as `host.settings`; None for no settings. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_startup(host: "Host") -> Awaitable[None] | None:
    """Open what the plugin keeps for the life of an engine (async).

    When: once per engine, before its first job. A raise makes the plugin's data sources (of a wrapper: all that
    it wraps) answer 503 with the reason; other plugins are not touched. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_shutdown(host: "Host") -> Awaitable[None] | None:
    """Close what `raas_startup` opened (async).

    When: once per engine, after its last job, also when start-up failed. A raise is logged. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_init(job: Job, host: "Host") -> Awaitable[Workspace] | None:
    """Prepare the place the policy works in (async).

    When: stage INIT of each attempt. Returns: a Workspace, usually `await host.open_workspace(spec, tools)`;
    without this hook the job gets an empty one. It is closed for you on every path. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_run(job: Job, host: "Host", workspace: Workspace, policy: Policy) -> Awaitable[Any] | None:
    """Let the policy solve the task (async, required).

    When: stage RUN of each attempt. Returns: the submission, JSON-able, all that EVAL will need. When
    `LimitReached` is raised by `sample()`, hand in what there is: it is graded as model_limit. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_eval(job: Job, host: "Host", trajectory: Trajectory) -> Awaitable[Reward] | None:
    """Score `trajectory.submission`; raise if it cannot be scored (async, required).

    When: stage EVAL, after the workspace was closed. May use the instance, the settings and the submission
    only, so that stored work can be graded again. A raise is a failure, never a reward of 0. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_init_exception(job: Job, error: Exception, failure: Failure) -> Reward | Failure | None:
    """Decide what a failed INIT means; `failure` is how the error was classified, over all attempts.

    When: INIT raised and no fresh attempt is left. Returns: a Reward (a fair score), a Failure (reclassified),
    or None for the default. Not called for a timeout or a cancel. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_run_exception(job: Job, error: Exception, trajectory: Trajectory, failure: Failure) -> Reward | Failure | None:
    """Decide what a failed RUN means.

    When: RUN raised and no fresh attempt is left; `trajectory` holds the turns so far. Returns: as
    `raas_init_exception`. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_eval_exception(
    job: Job, error: Exception, trajectory: Trajectory, failure: Failure
) -> Reward | Failure | None:
    """Decide what a failed EVAL means.

    When: EVAL raised and no fresh attempt is left. Returns: as `raas_init_exception`. Since 0.1.
    """


@hookspec(firstresult=True)
def raas_final_result(job: Job, result: Result) -> Result | None:
    """Add to a finished result.

    When: once, last, on every path but a cancel. Returns: a copy whose `reward_parts` and `extra` may differ;
    other changes are refused and shown in `extra`. None leaves it alone. Since 0.1.
    """


@hookspec
def raas_job_started(job_id: str, data_source: str, attempt: int) -> None:
    """Hear that a job left the queue. When: each attempt. What it returns is ignored. Since 0.1."""


@hookspec
def raas_stage_finished(job_id: str, attempt: int, stage: Stage, seconds: float) -> None:
    """Hear that a stage ended. When: each stage of each attempt. What it returns is ignored. Since 0.1."""


@hookspec
def raas_turn_finished(job_id: str, attempt: int, turn: Turn) -> None:
    """Hear that a turn was sampled. When: each turn. What it returns is ignored. Since 0.1."""


@hookspec
def raas_job_finished(job_id: str, result: Mapping[str, Any]) -> None:
    """Hear that a job ended; `result` is the record as plain data.

    When: once per job. What it returns is ignored. Since 0.1.
    """
