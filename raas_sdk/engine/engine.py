"""The engine: one event loop that runs whole jobs and speaks to a gateway in messages."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from raas_sdk.backends.client import BackendClient
from raas_sdk.engine import messages as m
from raas_sdk.engine.attempt import AttemptServices, Listener
from raas_sdk.engine.clock import JobClock
from raas_sdk.engine.conversation import Sampled
from raas_sdk.engine.credit import CreditLine
from raas_sdk.engine.graders import GraderPool
from raas_sdk.engine.host import HostServices, KeepSandbox, Labels, PluginHost
from raas_sdk.engine.job_table import JobKey, JobTable, RunningJob, key_of
from raas_sdk.engine.leases import LeaseBroker
from raas_sdk.engine.loop_watch import LoopLag, LoopWatch
from raas_sdk.engine.permits import StagePools
from raas_sdk.engine.record import bare_result
from raas_sdk.engine.renderers import RendererShelf
from raas_sdk.engine.runner import Runner
from raas_sdk.engine.runtimes import RuntimeChooser
from raas_sdk.engine.supervision import Supervisor
from raas_sdk.engine.task_set import TaskSet
from raas_sdk.engine.transport import Channel
from raas_sdk.hooks import Plugins
from raas_sdk.job import Job, Stage
from raas_sdk.policy import Turn
from raas_sdk.result import Outcome, Result
from raas_sdk.settings import Settings
from raas_sdk.verdict import classify

__all__ = ["Engine"]

STARTUP_SECONDS = 300.0
SHUTDOWN_SECONDS = 15.0

log = logging.getLogger(__name__)


class Engine(Listener):
    """Takes jobs as long as it has credit, answers each with exactly one result. Use `Engine.open`."""

    def __init__(self, services: AttemptServices, channel: Channel, tasks: TaskSet, *, name: str) -> None:
        self._services = services
        self._channel = channel
        self._tasks = tasks
        self._name = name
        self.table = JobTable()
        self._credit = CreditLine(services.pools[Stage.INIT].size, lambda count: channel.send(m.Credit(count)))
        self.unavailable: dict[str, str] = {}

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        plugins: Plugins,
        settings: Settings,
        channel: Channel,
        *,
        keep: KeepSandbox | None = None,
        runtimes: RuntimeChooser | None = None,
        client: BackendClient | None = None,
        graders: GraderPool | None = None,
    ) -> AsyncIterator["Engine"]:
        """Start plugins, say hello and take jobs; on the way out, cancel what runs and close everything."""
        shelf = RendererShelf(settings.tokenizer)
        await shelf.preload()
        chooser = runtimes or RuntimeChooser(settings.runtime, allow_unsafe=settings.allow_unsafe_runtime)
        async with AsyncExitStack() as stack:
            graders = graders or GraderPool(settings.grade_workers)
            stack.push_async_callback(graders.close)
            if client is None:
                client = await stack.enter_async_context(BackendClient())
            services = AttemptServices(
                plugins=plugins,
                pools=_pools(settings),
                leases=LeaseBroker(channel),
                client=client,
                hosts=HostServices(chooser, graders, keep),
                renderer=shelf.for_job,
                listener=Listener(),
                grace_seconds=settings.grace_seconds,
                close_seconds=settings.close_seconds,
            )
            stack.callback(services.deadlines.close)
            tasks = await stack.enter_async_context(TaskSet())
            engine = cls(services, channel, tasks, name="engine-0")
            services.listener = engine
            stack.push_async_callback(engine._shut_down)
            await engine._start_plugins()
            engine._say_hello()
            with LoopWatch(engine._beat):
                yield engine

    @property
    def pools(self) -> StagePools:
        """The stage pools."""
        return self._services.pools

    @property
    def leases(self) -> LeaseBroker:
        """The leases held here."""
        return self._services.leases

    @property
    def left_behind(self) -> "set[asyncio.Task[Any]]":
        """Hooks that ignore their cancel and still run."""
        return self._services.left_behind

    @property
    def runtimes(self) -> RuntimeChooser:
        """Which sandboxes it uses."""
        return self._services.hosts.runtimes

    def stage(self, job: Job, stage: Stage, state: str, seconds: float | None = None) -> None:
        """Tell the gateway; a job that left INIT makes room for another."""
        if stage is Stage.RUN:
            self._return_credit(job)
        self._channel.send(m.StageChanged(job.job_id, job.attempt, stage._value_, state, seconds, job.serial))

    def turn(self, job: Job, turn: Turn, sampled: Sampled) -> None:
        """Tell the gateway of a turn."""
        figures = (turn.index, turn.n_tokens, turn.finish_reason, turn.text, turn.policy_version)
        seconds = sampled.seconds if sampled.reply.tries == 1 else None
        place = (sampled.target.backend_id, seconds)
        self._channel.send(m.TurnFinished(job.job_id, job.attempt, *figures, *place, job.serial))

    def _say_hello(self) -> None:
        self._channel.on_message(self._receive)
        self._channel.send(m.Hello(self._name, self.unavailable))
        self._credit.settle()

    def _beat(self, lag: LoopLag) -> None:
        self._channel.send(m.Heartbeat(lag.seconds, lag.blocked_by, len(self.left_behind)))

    def _receive(self, message: m.Message) -> None:
        match message:
            case m.Submit():
                self._submit(message)
            case m.Cancel():
                self._cancel(key_of(message))
            case m.LeaseGranted():
                self._services.leases.granted(message)
            case m.LeaseChanged():
                self._services.leases.changed(message)
            case m.Ack():
                self.table.unconfirmed.pop(key_of(message), None)
            case m.Resize(sizes=sizes):
                self._resize({Stage(name): size for name, size in sizes.items()})
            case m.Drain(on=on):
                self._credit.drain(on)
            case _:
                log.error("an engine does not take this message", extra={"kind": type(message).__name__})

    def _return_credit(self, job: Job) -> None:
        entry = self.table.running.get(key_of(job))
        if entry is not None and entry.in_init:
            entry.in_init = False
            self._credit.returned()

    def _resize(self, sizes: dict[Stage, int]) -> None:
        self.pools.resize(sizes)
        self._credit.resize(self.pools[Stage.INIT].size)

    def _submit(self, message: m.Submit) -> None:
        job = message.parcel.job
        try:
            entry = RunningJob(self._runner(job, message))
        except Exception as error:  # noqa: BLE001 - a boundary: whatever it is, the job is answered with it
            self._credit.returned()
            self._answer(_failed(job, error), job)
            return
        self.table.running[key_of(job)] = entry
        entry.task = self._tasks.create_task(self._drive(job, entry))

    def _cancel(self, key: JobKey) -> None:
        """Answer a job at once as cancelled; what it holds is taken back behind the answer."""
        entry = self.table.cancel(key)
        if entry is None:
            return
        job = entry.runner.attempt.job
        try:
            result = entry.runner.cancelled()
        except Exception as error:  # noqa: BLE001 - a boundary: whatever it is, the job is answered with it
            result = _failed(job, error)
        self._answer(result, job, cleaning=True)

    def _runner(self, job: Job, message: m.Submit) -> Runner:
        clock = JobClock(job.limits, queue_wait=message.queue_wait, accepted_at=message.accepted_at)
        return Runner(job, self._services, clock)

    async def _drive(self, job: Job, entry: RunningJob) -> None:
        """Run one job to its one result; nothing that happens here reaches another job."""
        entry.started = True
        result: Result | None = None
        try:
            result = None if entry.cancelled else await entry.runner.run()
        except asyncio.CancelledError as error:
            if not entry.cancelled:
                if _is_cancelled():
                    raise
                result = _failed(job, error)
        except Exception as error:  # noqa: BLE001 - a boundary: whatever it is, the job is answered with it
            result = _failed(job, error)
        finally:
            self._return_credit(job)
            self.table.running.pop(key_of(job), None)
        self._end(job, None if entry.cancelled else result)

    def _end(self, job: Job, result: Result | None) -> None:
        if result is None:
            self._channel.send(m.JobGone(job.job_id, job.attempt, job.serial))
        else:
            self._answer(result, job)

    def _answer(self, result: Result, job: Job, *, cleaning: bool = False) -> None:
        try:
            self._send_result(result, job, cleaning=cleaning)
        except Exception as error:  # noqa: BLE001 - data that no check has caught must not cost other jobs
            self._send_result(_failed(job, error), job, cleaning=cleaning)

    def _send_result(self, result: Result, job: Job, *, cleaning: bool) -> None:
        parcel = m.ResultParcel(result)
        self._channel.send(m.JobResult(result.job_id, result.attempt, parcel, cleaning, job.serial))
        self.table.unconfirmed[key_of(job)] = result

    async def _start_plugins(self) -> None:
        plugins = self._services.plugins
        for name in plugins.loaded():
            try:
                await self._lifecycle(name, "raas_startup", seconds=STARTUP_SECONDS)
            except Exception as error:
                log.exception("a plugin failed to start", extra={"plugin": name})
                reason = classify(error, stage="startup").message
                self.unavailable.update(dict.fromkeys(plugins.touched_by(name), reason))

    async def _shut_down(self) -> None:
        for key in tuple(self.table.running):
            self._cancel(key)
        running = [entry.task for entry in self.table.running.values() if entry.task is not None]
        if running:
            await asyncio.wait(running)
        for name in reversed(self._services.plugins.loaded()):
            try:
                await self._lifecycle(name, "raas_shutdown", seconds=SHUTDOWN_SECONDS)
            except Exception:
                log.exception("a plugin failed to shut down", extra={"plugin": name})

    async def _lifecycle(self, name: str, hook: str, *, seconds: float) -> None:
        plugins = self._services.plugins
        labels = Labels(name, "-", hook)
        host = PluginHost(self._services.hosts, settings=plugins.settings.get(name), labels=labels)

        async def call() -> None:
            awaitable = plugins.own_hook(name, hook)(host=host)
            if awaitable is not None:
                await awaitable

        await Supervisor(hook, seconds, grace_seconds=self._services.grace_seconds).run(call())


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _failed(job: Job, error: BaseException) -> Result:
    """The record of a job that the engine itself could not bring to an end."""
    log.error("the engine failed a job", exc_info=error, extra={"job_id": job.job_id})
    return bare_result(job, outcome=Outcome.INFRA_ERROR, failure=classify(error, stage="engine"))


def _pools(settings: Settings) -> StagePools:
    return StagePools(
        init=settings.init_workers,
        run=settings.run_workers,
        eval_=settings.eval_workers,
        handover=settings.handover,
    )
