"""The hooks of one task plugin, with its wrappers, as plain calls whose results are checked."""

import inspect
import reprlib
from collections.abc import Awaitable, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from pluggy import HookCaller, HookImpl

from raas_sdk.errors import PluginFault
from raas_sdk.hooks.containment import contained
from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.hooks.host import Host
from raas_sdk.job import Job, Stage
from raas_sdk.json_data import json_copy
from raas_sdk.policy import Policy
from raas_sdk.result import Failure, Result
from raas_sdk.reward import Reward
from raas_sdk.trajectory import Trajectory
from raas_sdk.workspace import Workspace, is_workspace

__all__ = ["InnermostWrapper", "Route"]

produced: ContextVar[list[Any] | None] = ContextVar("produced", default=None)


class InnermostWrapper:
    """Sees what the task plugin itself returned, so that a coroutine no wrapper awaited can be closed."""

    @hookimpl(wrapper=True, trylast=True)
    def raas_init(self) -> Generator[None, Any, Any]:
        """Note the plugin's awaitable."""
        return (yield from _note())

    @hookimpl(wrapper=True, trylast=True)
    def raas_run(self) -> Generator[None, Any, Any]:
        """Note the plugin's awaitable."""
        return (yield from _note())

    @hookimpl(wrapper=True, trylast=True)
    def raas_eval(self) -> Generator[None, Any, Any]:
        """Note the plugin's awaitable."""
        return (yield from _note())


def _note() -> Generator[None, Any, Any]:
    result = yield
    noted = produced.get()
    if noted is not None:
        noted.append(result)
    return result


@dataclass(frozen=True, slots=True)
class Route:
    """What is called for one task plugin's data sources.

    `sole` holds the hooks that exactly one implementation answers and nobody wraps: those are called directly.
    """

    plugin: str
    hooks: dict[str, HookCaller]
    sole: dict[str, HookImpl]

    async def init(self, job: Job, host: Host) -> Workspace:
        """Call raas_init; raise PluginFault if it gives no Workspace."""
        workspace: Workspace = await self._stage("raas_init", job=job, host=host)
        if not is_workspace(workspace):
            raise self._bad("raas_init", workspace, "a Workspace (host.open_workspace gives one)")
        return workspace

    async def run(self, job: Job, host: Host, workspace: Workspace, policy: Policy) -> Any:
        """Call raas_run; raise PluginFault if the submission is not JSON-able."""
        submission = await self._stage("raas_run", job=job, host=host, workspace=workspace, policy=policy)
        try:
            return json_copy(submission)
        except ValueError as error:
            raise self._bad("raas_run", submission, f"plain data ({error})") from error

    async def eval(self, job: Job, host: Host, trajectory: Trajectory) -> Reward:
        """Call raas_eval; raise PluginFault if it gives no Reward within its range."""
        reward = await self._stage("raas_eval", job=job, host=host, trajectory=trajectory)
        if not isinstance(reward, Reward):
            raise self._bad("raas_eval", reward, "a Reward")
        return reward.checked()

    def on_exception(
        self, stage: Stage, job: Job, error: Exception, trajectory: Trajectory, *, failure: Failure
    ) -> Reward | Failure | None:
        """Ask the plugin what a failed stage means."""
        name = f"raas_{stage.value}_exception"
        arguments: dict[str, Any] = {"job": job, "error": error, "failure": failure}
        if stage is not Stage.INIT:
            arguments["trajectory"] = trajectory
        with contained(f"{name} of plugin {self.plugin!r}"):
            decision = self._decide(name, arguments)
        if isinstance(decision, Reward | Failure):
            return decision.checked()
        if decision is None:
            return None
        raise self._bad(name, decision, "a Reward, a Failure or None")

    def final_result(self, job: Job, result: Result) -> Result | None:
        """Ask the plugin for additions to a finished result."""
        with contained(f"raas_final_result of plugin {self.plugin!r}"):
            answer = self._decide("raas_final_result", {"job": job, "result": result})
        if answer is None or isinstance(answer, Result):
            return answer
        raise self._bad("raas_final_result", answer, "a Result or None")

    def _decide(self, name: str, arguments: dict[str, Any]) -> Any:
        sole = self.sole.get(name)
        return self.hooks[name](**arguments) if sole is None else _call(sole, arguments)

    def _stage(self, name: str, **arguments: Any) -> Awaitable[Any]:
        sole = self.sole.get(name)
        if sole is None:
            return self._wrapped(name, arguments)
        awaitable = _call(sole, arguments)
        if inspect.iscoroutine(awaitable) or isinstance(awaitable, Awaitable):
            return awaitable
        raise self._bad(name, awaitable, "an awaitable: write it as 'async def'")

    async def _wrapped(self, name: str, arguments: dict[str, Any]) -> Any:
        noted: list[Any] = []
        token = produced.set(noted)
        try:
            try:
                awaitable = self.hooks[name](**arguments)
            finally:
                produced.reset(token)
            if not isinstance(awaitable, Awaitable):
                raise self._bad(name, awaitable, "an awaitable: write it as 'async def'")
            return await awaitable
        finally:
            _close_unawaited(noted)

    def _bad(self, hook: str, value: object, wanted: str) -> PluginFault:
        _close_unawaited([value])
        shown = f"{type(value).__name__} {reprlib.repr(value)}"
        message = f"{hook} of plugin {self.plugin!r} returned {shown}, not {wanted}"
        return PluginFault(message, code="bad_return")


def _call(implementation: HookImpl, arguments: dict[str, Any]) -> Any:
    """As pluggy does it: with the arguments it takes."""
    return implementation.function(*[arguments[name] for name in implementation.argnames])


def _close_unawaited(noted: list[Any]) -> None:
    for value in noted:
        if inspect.iscoroutine(value) and inspect.getcoroutinestate(value) == inspect.CORO_CREATED:
            value.close()
