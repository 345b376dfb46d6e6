"""One try of a job through INIT, RUN and EVAL: permits, sandbox, lease, budgets. Decides nothing."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

from raas_sdk.backends.client import BackendClient
from raas_sdk.engine.belongings import Belongings
from raas_sdk.engine.clock import JobClock
from raas_sdk.engine.conversation import LeasedConversation, LeasedPolicy, Sampled
from raas_sdk.engine.deadlines import Deadlines
from raas_sdk.engine.host import HostServices, Labels, PluginHost
from raas_sdk.engine.leases import HeldLease, LeaseBroker
from raas_sdk.engine.owned_workspace import SoftEnd
from raas_sdk.engine.permits import Hold, StagePools
from raas_sdk.engine.supervision import Supervisor
from raas_sdk.errors import PluginFault
from raas_sdk.hooks import Plugins, Route
from raas_sdk.job import Job, Stage
from raas_sdk.policy import Turn
from raas_sdk.reward import Reward
from raas_sdk.tokens import Renderer
from raas_sdk.trajectory import Segment, Trajectory
from raas_sdk.workspace import Workspace

__all__ = ["Attempt", "AttemptServices", "Listener", "StageFault"]

log = logging.getLogger(__name__)


class Listener:
    """Hears how an attempt goes; the engine turns it into messages."""

    def stage(self, job: Job, stage: Stage, state: str, seconds: float | None = None) -> None:
        """The job waits for, holds or has left a stage."""

    def turn(self, job: Job, turn: Turn, sampled: Sampled) -> None:
        """A turn was sampled."""


@dataclass(slots=True)
class AttemptServices:
    """What all attempts of one engine share. `left_behind` are hooks that ignore their cancel and still run."""

    plugins: Plugins
    pools: StagePools
    leases: LeaseBroker
    client: BackendClient
    hosts: HostServices
    renderer: Callable[[Job], Coroutine[Any, Any, Renderer]]
    listener: Listener
    grace_seconds: float = 5.0
    close_seconds: float = 15.0
    deadlines: Deadlines = field(default_factory=Deadlines)
    left_behind: "set[asyncio.Task[Any]]" = field(default_factory=set)


class StageFault(Exception):
    """A stage raised; the error is the cause."""

    def __init__(self, stage: Stage, error: Exception) -> None:
        super().__init__(f"{stage._value_} raised {type(error).__name__}")
        self.stage = stage
        self.error = error


class Attempt:
    """Runs once. Whatever happens, `trajectory()` tells what was sampled and nothing stays open."""

    __slots__ = (
        "_hosts",
        "_route",
        "_services",
        "_soft_end",
        "clock",
        "job",
        "notes",
        "policy",
        "reward",
        "sandbox",
        "stage",
        "submission",
        "tool_calls",
    )

    def __init__(self, job: Job, services: AttemptServices, clock: JobClock) -> None:
        self.job = job
        self.clock = clock
        self.reward: Reward | None = None
        self.submission: Any = None
        self.policy: LeasedPolicy | None = None
        self.stage = Stage.INIT
        self.sandbox: tuple[str, str] | None = None
        self.tool_calls = 0
        self.notes: list[str] = []
        self._services = services
        self._route: Route = services.plugins.route(job.data_source)
        self._soft_end = SoftEnd()
        self._hosts: list[PluginHost] = []

    async def run(self) -> None:
        """Go through the stages; raise StageFault for the one that failed."""
        pools = self._services.pools
        async with Part(self) as belongings:
            with pools.handover.hold() as handover:
                with pools[Stage.INIT].hold() as permit:
                    await self._take(permit, Stage.INIT)
                    workspace = await self._init(belongings)
                    await self._wait(handover)
                with pools[Stage.RUN].hold() as permit:
                    await self._take(permit, Stage.RUN)
                    handover.give()
                    await self._run(belongings, workspace)
        with pools[Stage.EVAL].hold() as permit:
            await self._take(permit, Stage.EVAL)
            async with Part(self) as belongings:
                await self._eval(belongings)

    def sample_no_more(self) -> None:
        """Refuse new turns and tool calls, since the job was answered; what is under way ends with its stage."""
        self._soft_end.closed = True

    def trajectory(self) -> Trajectory:
        """Everything that was sampled so far, with the submission if there is one."""
        if self.policy is None:
            return Trajectory(submission=self.submission)
        talks = self.policy.conversations
        return Trajectory(
            segments=tuple(_segments(talks)),
            messages=tuple(message for talk in talks for message in talk.messages),
            tools=talks[0].tools if talks else (),
            num_turns=self.policy.turns,
            stop_reason=self._stop_reason(),
            submission=self.submission,
        )

    async def _init(self, belongings: Belongings) -> Workspace:
        host = self._host(Stage.INIT, belongings)
        work = self._route.init(self.job, host)
        workspace: Workspace = await self._stage(self._supervisor(Stage.INIT), work)
        self.sandbox = (str(workspace.runtime), str(workspace.level))
        return workspace

    async def _run(self, belongings: Belongings, workspace: Workspace) -> None:
        services, job = self._services, self.job
        wait = self.clock.waiting("lease")
        try:
            renderer = await services.renderer(job)
            wait.begin()
            async with services.leases.hold(job) as lease:
                wait.end()
                supervisor = self._run_supervisor()
                self.policy = self._policy(lease, renderer, supervisor)
                work = self._route.run(job, self._host(Stage.RUN, belongings), workspace, self.policy)
                self.submission = await self._stage(supervisor, work)
        except StageFault:
            raise
        except Exception as error:
            raise StageFault(Stage.RUN, error) from error
        finally:
            wait.end()
            self._soft_end.close()
            if self.policy is not None:
                self.policy.uncounted = nullcontext  # it leads back here

    def _policy(self, lease: HeldLease, renderer: Renderer, supervisor: Supervisor) -> LeasedPolicy:
        services, job = self._services, self.job
        return LeasedPolicy(
            job,
            lease,
            client=services.client,
            renderer=renderer,
            soft_end=self._soft_end,
            listener=lambda turn, sampled: services.listener.turn(job, turn, sampled),
            uncounted=lambda: self._waiting_for_backend(supervisor),
        )

    async def _eval(self, belongings: Belongings) -> None:
        if not self.job.instance.is_as_sent:
            fault = (
                "raas_init or raas_run changed job.instance.payload; EVAL scores the instance that was sent: copy it"
            )
            raise StageFault(Stage.EVAL, PluginFault(fault, code="instance_changed"))
        host = self._host(Stage.EVAL, belongings)
        work = self._route.eval(self.job, host, self.trajectory())
        self.reward = await self._stage(self._supervisor(Stage.EVAL), work)

    def _run_supervisor(self) -> Supervisor:
        """RUN ends softly when its own budget is over, hard when the job's total is."""
        limits, budget, left = self.job.limits, self.clock.budget(Stage.RUN), self.clock.left()
        supervisor = self._supervisor(Stage.RUN)
        if budget is not None and budget == limits.run_seconds:
            collect = limits.collect_seconds if left is None else min(limits.collect_seconds, left - budget)
            supervisor.soft_end(self._soften, collect_seconds=collect)
        return supervisor

    def _supervisor(self, stage: Stage) -> Supervisor:
        services = self._services
        budget = self.clock.budget(stage)
        return Supervisor(stage._value_, budget, grace_seconds=services.grace_seconds, deadlines=services.deadlines)

    def _soften(self) -> None:
        assert self.policy is not None
        self.policy.reach("time")
        self._soft_end.reach("time")

    @contextmanager
    def _waiting_for_backend(self, supervisor: Supervisor) -> Iterator[None]:
        with supervisor.paused() as is_first:
            if is_first:
                with self.clock.waiting("lease"):
                    yield
            else:
                yield

    async def _stage(self, supervisor: Supervisor, work: Coroutine[Any, Any, Any]) -> Any:
        """The one place where a stage's exception is caught."""
        stage = self.stage
        self._services.listener.stage(self.job, stage, "running")
        name = f"raas_{stage.value} of plugin {self._route.plugin!r} (job {self.job.job_id!r})"
        try:
            return await supervisor.run(work, name=name)
        except Exception as error:
            raise StageFault(stage, error) from error
        finally:
            seconds = supervisor.countdown.elapsed
            self.clock.counted[stage] += seconds
            self._services.listener.stage(self.job, stage, "done", seconds)
            if supervisor.abandoned:
                self.notes.append(f"stage {stage._value_} ignored its cancel and was left behind")
                self._count_left_behind(supervisor.task)

    def _count_left_behind(self, task: "asyncio.Task[Any] | None") -> None:
        if task is not None and not task.done():
            self._services.left_behind.add(task)
            task.add_done_callback(self._services.left_behind.discard)

    async def _take(self, permit: Hold, stage: Stage) -> None:
        self.stage = stage
        self._services.listener.stage(self.job, stage, "waiting")
        await self._wait(permit)

    async def _wait(self, permit: Hold) -> None:
        if not permit.take_now():
            with self.clock.waiting("permit"):
                await permit.take()

    def end_part(self) -> None:
        """Nothing new can be opened for the part that is over."""
        self._soft_end.close()
        for host in self._hosts:
            host.closed = True
        self.tool_calls = sum([workspace.tool_calls for host in self._hosts for workspace in host.opened])

    async def close(self, stack: AsyncExitStack) -> None:
        closing = asyncio.create_task(stack.aclose())
        seconds = self._services.close_seconds
        try:
            await asyncio.wait({closing}, timeout=seconds)
        except asyncio.CancelledError:
            await asyncio.wait({closing}, timeout=seconds)
            raise
        finally:
            self._note_closing(closing)

    def _note_closing(self, closing: "asyncio.Task[None]") -> None:
        if not closing.done():
            closing.cancel()
            fault = f"it took more than {self._services.close_seconds:g} s and was left behind"
        elif closing.cancelled():
            fault = "it raised CancelledError"
        elif (error := closing.exception()) is not None:
            fault = f"{type(error).__name__}: {error}"
        else:
            return
        self.notes.append(f"closing a sandbox failed: {fault}")
        log.error("closing a sandbox failed", extra={"job_id": self.job.job_id, "fault": fault})

    def _host(self, stage: Stage, belongings: Belongings) -> PluginHost:
        name = self._route.plugin
        host = PluginHost(
            self._services.hosts,
            settings=self._services.plugins.settings.get(name),
            labels=Labels(name, self.job.job_id, stage._value_),
            belongings=belongings,
            soft_end=self._soft_end if stage is not Stage.EVAL else None,
        )
        self._hosts.append(host)
        return host

    def _stop_reason(self) -> str | None:
        assert self.policy is not None
        if self.policy.limit_reason is not None:
            return f"limit_{self.policy.limit_reason}"
        talks = self.policy.conversations
        return talks[-1].finish_reason if talks else None


class Part:
    """A part of an attempt that may open sandboxes; they are closed on every path, also through a cancel."""

    __slots__ = ("_attempt", "_belongings")

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._belongings = Belongings()

    async def __aenter__(self) -> Belongings:
        return self._belongings

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._attempt.end_part()
        if not self._belongings.empty:
            await self._attempt.close(self._belongings.stack)


def _segments(talks: Sequence[LeasedConversation]) -> Iterator[Segment]:
    """The segments of all conversations; `message_index` counts over the messages of all of them."""
    before = 0
    for talk in talks:
        for segment in talk.ledger.segments():
            spans = tuple(replace(span, message_index=span.message_index + before) for span in segment.turns)
            yield replace(segment, turns=spans) if before else segment
        before += len(talk.messages)
