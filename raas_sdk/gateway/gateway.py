"""The gateway: accepts jobs, queues them, leases backends, answers. Runs no plugin code on its own loop."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.pool import BackendPool
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine import messages as m
from raas_sdk.engine.record import bare_result
from raas_sdk.engine.task_set import TaskSet
from raas_sdk.engine.transport import Channel
from raas_sdk.errors import BackendFault, BadRequest, NoBackend, NotStarted, PluginUnavailable, QueueFull
from raas_sdk.gateway.admission import Submission
from raas_sdk.gateway.announcements import Announcements
from raas_sdk.gateway.engine_view import EngineView
from raas_sdk.gateway.job_record import JobRecord, JobRecords
from raas_sdk.gateway.lease_desk import LeaseDesk
from raas_sdk.gateway.observer import Observer
from raas_sdk.gateway.revival import Revival
from raas_sdk.gateway.status import status_of
from raas_sdk.hooks import Plugins
from raas_sdk.job import Stage
from raas_sdk.policy import Turn
from raas_sdk.result import Failure, Outcome, Result
from raas_sdk.settings import Settings

__all__ = ["Gateway"]

log = logging.getLogger(__name__)


class Gateway:
    """Holds every accepted job until its one result is there. Use `Gateway.open`."""

    def __init__(self, plugins: Plugins, settings: Settings, channel: Channel) -> None:
        self.plugins = plugins
        self.settings = settings
        self.records = JobRecords(settings.keep_results)
        self.backends = BackendPool()
        self.desk = LeaseDesk(
            self.backends, channel.send, wait_seconds=settings.lease_wait_seconds, on_unhealthy=self._look_after
        )
        self.announcements = Announcements(plugins)
        self.unavailable: dict[str, str] = {}
        self.started = True
        self.ready = asyncio.Event()
        self.observer: Observer = Observer()
        self.engine = EngineView()
        self._channel = channel
        self._queue: deque[JobRecord] = deque()
        self._credit = 0
        self._tasks: TaskSet | None = None
        self._probe_client: BackendClient | None = None
        self._revival: Revival | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, plugins: Plugins, settings: Settings, channel: Channel) -> AsyncIterator["Gateway"]:
        """Take messages from the engine; on the way out every live job is cancelled and answered."""
        gateway = cls(plugins, settings, channel)
        async with AsyncExitStack() as stack:
            gateway._probe_client = await stack.enter_async_context(BackendClient())
            await stack.enter_async_context(gateway.announcements.speaking())
            gateway._tasks = await stack.enter_async_context(TaskSet())
            gateway._revival = Revival(
                gateway.backends,
                gateway._probe_client,
                gateway._tasks,
                rest_seconds=settings.backend_rest_seconds,
                revived=gateway.desk.refresh,
            )
            stack.callback(gateway.desk.close)
            channel.on_message(gateway._receive)
            try:
                for address in settings.backend:
                    gateway.add_backend(address)
                yield gateway
            finally:
                await gateway.stop()

    @property
    def credit(self) -> int:
        """How many jobs the engine would take at once now."""
        return self._credit

    def submit(self, submission: Submission) -> JobRecord:
        """Accept a job, or join the one it already is; raise what the server answers 4xx or 503 to.

        A stored result is given also while the service is stopped: only new work is refused.
        """
        known = self.records.same(submission)
        if known is not None:
            return known
        if not self.started:
            raise NotStarted("the service is stopped; POST /start first")
        job = submission.job
        route = self.plugins.route(job.data_source)
        if route.plugin in self.unavailable:
            raise PluginUnavailable(f"plugin {route.plugin!r} could not start: {self.unavailable[route.plugin]}")
        if not self.backends.list(job.pool):
            raise NoBackend(
                f"no backend registered in pool {job.pool!r}; POST /add_llm_server first (job {job.job_id!r})"
            )
        if len(self._queue) >= self.settings.max_queued_jobs:
            raise QueueFull(f"{len(self._queue)} jobs wait already; send fewer at once", retry_after=5)
        record = self.records.add(submission)
        self._queue.append(record)
        self._dispatch()
        return record

    def cancel(self, job_id: str) -> bool:
        """End a job wherever it is; return whether it was live."""
        record = self.records.live.get(job_id)
        if record is None:
            return False
        if record.stage == "queued":
            self._queue.remove(record)
            self._finish(record, _cancelled(record, "was cancelled"))
        else:
            self._channel.send(m.Cancel(job_id, record.job.serial))
        return True

    async def stop(self) -> int:
        """Stop taking jobs, cancel all, wait until they are answered and hold nothing; return how many still do."""
        self.started = False
        end = time.monotonic() + self.settings.stop_seconds
        waits = [record.done for record in self.records.live.values()]
        for job_id in tuple(self.records.live):
            self.cancel(job_id)
        if waits:
            await asyncio.wait(waits, timeout=self.settings.stop_seconds)
        given_up = tuple(self.records.live.values())
        for record in given_up:
            what = f"did not end within {self.settings.stop_seconds:g} s and was given up"
            self._finish(record, _cancelled(record, what))
        tidy = asyncio.ensure_future(self.engine.tidy.wait())
        await asyncio.wait({tidy}, timeout=max(0.0, end - time.monotonic()))
        tidy.cancel()
        return len(given_up) + len(self.engine.cleaning)

    def start(self) -> None:
        """Take jobs (again)."""
        self.started = True

    def add_backend(self, address: str, **facts: Any) -> None:
        """Register a backend and find out its wire in the background; one that can't be reached stays."""
        backend = self.desk.add(address, **facts)
        self._heard_of(backend.id)
        if backend.wire is None and self._tasks is not None:
            self._tasks.create_task(self._probe(backend.id, backend.address))

    def remove_backend(self, backend_id: str, *, drain: bool) -> None:
        """Take a backend out: when its last job has ended, or now; raise BadRequest if there is none of that id."""
        if drain:
            self.backends.drain(backend_id)
        else:
            self.desk.remove(backend_id)
        self.desk.refresh()

    def clear_backends(self, pool: str | None = None) -> int:
        """Take out all backends; running jobs keep theirs. Returns how many there were."""
        count = len(self.backends.clear(pool))
        self.desk.refresh()
        return count

    def status(self) -> dict[str, Any]:
        """A consistent snapshot."""
        return status_of(self, queued=len(self._queue))

    def _look_after(self, target: BackendTarget) -> None:
        if self._revival is not None:
            self._revival.watch(target)

    def _heard_of(self, backend_id: str) -> None:
        if self._revival is not None:
            self._revival.heard_of(backend_id)

    async def _probe(self, backend_id: str, address: str) -> None:
        assert self._probe_client is not None
        try:
            self.backends.set_wire(backend_id, await self._probe_client.detect(address))
            self.desk.refresh()
        except (BackendFault, BadRequest) as fault:
            log.warning("backend not reachable yet", extra={"address": address, "fault": str(fault)})

    def _receive(self, message: m.Message) -> None:
        match message:
            case m.StageChanged():
                self._stage_changed(message)
            case m.Credit(count=count):
                self._credit += count
                self._dispatch()
            case m.Hello(engine=name, unavailable=unavailable):
                self.engine.name, self.unavailable = name, unavailable
                self.ready.set()
            case m.Heartbeat():
                self.engine.heard(message)
            case m.TurnFinished():
                self._turn_finished(message)
            case m.LeaseRequest() | m.LeaseMove() | m.LeaseRelease() | m.BackendFailed():
                self._lease(message)
            case m.JobResult():
                self._answered(message)
            case m.JobGone():
                self.engine.gone(message)
            case _:
                log.error("a gateway does not take this message", extra={"kind": type(message).__name__})

    def _dispatch(self) -> None:
        while self._credit > 0 and self._queue:
            record = self._queue.popleft()
            self._credit -= 1
            waited = time.monotonic() - record.since
            record.moved("init", "waiting")
            job = record.job
            parcel = m.JobParcel(job)
            self._channel.send(m.Submit(job.job_id, job.attempt, parcel, waited, record.accepted_at))
            self.announcements.say(
                "raas_job_started", job_id=job.job_id, data_source=job.data_source, attempt=job.attempt
            )

    def _lease(self, message: m.LeaseRequest | m.LeaseMove | m.LeaseRelease | m.BackendFailed) -> None:
        match message:
            case m.BackendFailed():
                self.desk.failed(message)
            case m.LeaseRelease():
                self.desk.release(message)
            case _ if self.records.current(message.job_id, message.serial) is None:
                self.desk.refuse(message, "the job has been answered")
            case m.LeaseRequest():
                self.desk.request(message)
            case m.LeaseMove():
                self.desk.move(message)

    def _stage_changed(self, message: m.StageChanged) -> None:
        record = self.records.current(message.job_id, message.serial)
        if record is None:
            return
        record.moved(message.stage, message.state)
        self.observer.stage(message)
        if message.seconds is not None and self.announcements.wanted("raas_stage_finished"):
            self.announcements.say(
                "raas_stage_finished",
                job_id=message.job_id,
                attempt=message.attempt,
                stage=Stage(message.stage),
                seconds=message.seconds,
            )

    def _turn_finished(self, message: m.TurnFinished) -> None:
        self._sampled(message)
        record = self.records.current(message.job_id, message.serial)
        if record is None:
            return
        record.turns += 1
        self.observer.turn(message)
        turn = Turn(message.index, message.text, message.finish_reason, message.n_tokens, message.policy_version)
        self.announcements.say("raas_turn_finished", job_id=message.job_id, attempt=message.attempt, turn=turn)

    def _sampled(self, message: m.TurnFinished) -> None:
        backend_id = message.backend_id
        if backend_id and self.backends.sampled(backend_id, tokens=message.n_tokens, seconds=message.seconds):
            self._heard_of(backend_id)
            self.desk.refresh()

    def _answered(self, message: m.JobResult) -> None:
        self.engine.answered(message)
        record = self.records.current(message.job_id, message.serial)
        if record is not None:
            self._finish(record, message.parcel.result)
        self._channel.send(m.Ack(message.job_id, message.serial))

    def _finish(self, record: JobRecord, result: Result) -> None:
        self.desk.release(m.LeaseRelease(result.job_id, result.attempt, record.job.serial))
        if result.timing.accepted_at is None:
            result = replace(result, timing=replace(result.timing, accepted_at=record.accepted_at))
        self.records.finish(result.job_id, result)
        self.observer.finished(result)
        if self.announcements.wanted("raas_job_finished"):
            self.announcements.say("raas_job_finished", job_id=result.job_id, result=result.to_wire())


def _cancelled(record: JobRecord, what: str) -> Result:
    failure = Failure(stage=record.stage, kind="cancelled", code="cancelled", message=f"the job {what}")
    waited = time.monotonic() - record.since if record.stage == "queued" else 0.0
    return bare_result(record.job, outcome=Outcome.CANCELLED, failure=failure, queue_wait=waited)
