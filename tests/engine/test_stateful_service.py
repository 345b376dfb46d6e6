"""A whole gateway and engine under any order of events: each job ends once, and what was taken is given back.

Backends are functions and time only passes where the machine lets it, so that a failure shrinks to few steps.
"""

import asyncio
import sys
import types
import uuid
from array import array
from contextlib import AsyncExitStack
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from raas_sdk import EmptyWorkspace, Failure, Reward, WorkspaceFault, hookimpl
from raas_sdk.backends.generation import Generation
from raas_sdk.engine import Engine, direct_channels
from raas_sdk.errors import BackendContract, BackendUnreachable, JobConflict, NoBackend, NotStarted
from raas_sdk.gateway import Gateway, Observer, admit
from raas_sdk.hooks import load_plugins
from raas_sdk.settings import load_settings

PORTS = st.integers(1, 3)
NUMBERS = st.integers(0, 11)
"""Chosen among what there is, so that nothing drawn depends on how far the machine got."""
STEPS = ("ok",) * 6 + ("sample",) * 3 + ("raise", "infra", "cancelled", "garbage", "limit", "stubborn")
ENDED = {"scored", "model_limit", "task_error", "infra_error", "timeout", "cancelled"}
TURNS = 60


class Backends:
    """Stands for the client: each address samples, fails, or keeps its callers waiting until it is told otherwise."""

    def __init__(self):
        self.moods, self.changed, self.calls = {}, asyncio.Event(), 0

    def set(self, address, mood):
        self.moods[address] = mood
        self.changed.set()
        self.changed = asyncio.Event()

    async def generate(self, target, request, *, earlier_tries=0):
        self.calls += 1
        await asyncio.sleep(0)
        while self.moods.get(target.address) == "slow":
            await self.changed.wait()
        if self.moods.get(target.address) == "down":
            raise BackendUnreachable(f"{target.address} is down", tries=3)
        if self.moods.get(target.address) == "garbage":
            raise BackendContract("nothing to train on")
        ids = array("i", (104, 105, 257))
        return Generation(ids, array("f", (-0.5, -0.25, -0.125)), "stop", request.request_id, "raw")


class Steps:
    """A task whose stages wait to be let on, and then do what the machine says."""

    def __init__(self):
        self.gates, self.at = {}, {}

    @hookimpl
    def raas_data_sources(self):
        return ["steps"]

    async def step(self, job, stage, policy=None):
        gate = self.gates[job.instance.instance_id, stage] = asyncio.get_running_loop().create_future()
        try:
            kind = await gate
        finally:
            self.gates.pop((job.instance.instance_id, stage), None)
        if kind == "sample" and policy is not None:
            await policy.conversation([{"role": "user", "content": "hi"}]).sample()
        if kind == "stubborn":
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                return "stayed"
        error = {
            "raise": ValueError("no"),
            "infra": WorkspaceFault("gone"),
            "cancelled": asyncio.CancelledError(),
            "limit": WorkspaceFault("died", code="sandbox_died"),
        }.get(kind)
        if error is not None:
            raise error
        return kind

    @hookimpl
    async def raas_init(self, job):
        return 3 if await self.step(job, "init") == "garbage" else EmptyWorkspace()

    @hookimpl
    async def raas_run(self, job, policy):
        await policy.conversation([{"role": "user", "content": "go"}]).sample()
        return object() if await self.step(job, "run", policy) == "garbage" else "done"

    @hookimpl
    async def raas_eval(self, job):
        return None if await self.step(job, "eval") == "garbage" else Reward(0.5)

    @hookimpl
    def raas_run_exception(self, job, error):
        return Failure("run", "infra", "told", "m") if isinstance(error, ValueError) else None


class Counting(Observer):
    def __init__(self):
        self.results = []

    def finished(self, result):
        self.results.append(result)


class ServiceMachine(RuleBasedStateMachine):
    @initialize()
    def open(self):
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.records, self.count = [], 0
        self.do(self.enter())

    def do(self, work):
        return self.loop.run_until_complete(work)

    async def enter(self):
        self.plugin, self.backends, self.observer = Steps(), Backends(), Counting()
        module = types.ModuleType(f"raas_tests_{uuid.uuid4().hex}")
        module.steps = self.plugin
        sys.modules[module.__name__] = module
        self.stack.callback(sys.modules.pop, module.__name__)
        given = {
            "plugin": (f"{module.__name__}:steps",),
            "entry_points": False,
            "tokenizer": "test:chatml",
            "init_workers": 2,
            "run_workers": 3,
            "eval_workers": 1,
            "handover": 1,
            "grace_seconds": 0.001,
            "lease_wait_seconds": 600,
        }
        self.settings = load_settings(given, environ={})
        plugins = load_plugins(self.settings)
        ours, theirs = direct_channels(coded=True)
        opening = Engine.open(plugins, self.settings, theirs, client=self.backends)
        self.engine = await self.stack.enter_async_context(opening)
        self.gateway = await self.stack.enter_async_context(Gateway.open(plugins, self.settings, ours))
        self.gateway._revival = None  # it asks real addresses; here the rules bring backends back
        self.gateway.backends._rng = Random(0)
        self.gateway.observer = self.observer
        await self.gateway.ready.wait()
        self.gateway.add_backend("http://h1:1", wire="vllm")

    async def turns(self):
        for _ in range(TURNS):
            await asyncio.sleep(0)

    async def submit_now(self, name, seed):
        body = {
            "instance": {"data_source": "steps", "instance_id": f"i{self.count}"},
            "sampling_params": {"seed": seed},
            "limits": {"infra_retries": 1},
            "job_id": name,
        }
        try:
            record = self.gateway.submit(admit(body, self.settings))
        except (JobConflict, NoBackend, NotStarted):
            return
        self.records.append(record)
        self.count += 1

    @rule(names=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4), seed=st.integers(0, 1))
    def submit(self, names, seed):
        for name in names:
            self.do(self.submit_now(name, seed))
        self.do(self.turns())

    @rule(steps=st.lists(st.tuples(NUMBERS, st.sampled_from(STEPS)), min_size=1, max_size=4), hurry=st.booleans())
    def let_on(self, steps, hurry):
        for number, kind in steps:
            waiting = sorted(key for key, gate in self.plugin.gates.items() if not gate.done())
            if waiting:
                self.plugin.gates[waiting[number % len(waiting)]].set_result(kind)
            if not hurry:
                self.do(self.turns())

    @rule(count=st.integers(1, 12), kind=st.sampled_from(["ok", "sample"]))
    def let_many_on(self, count, kind):
        self.let_on([(number, kind) for number in range(count)], hurry=False)

    @rule(names=st.permutations("abcdef"), count=st.integers(1, 12))
    def submit_and_let_on(self, names, count):
        self.submit(names, 0)
        self.let_many_on(count, "ok")

    @rule(name=st.sampled_from("abcdef"), times=st.integers(1, 3), hurry=st.booleans())
    def cancel(self, name, times, hurry):
        async def now():
            for _ in range(times):
                self.gateway.cancel(name)

        self.do(now())
        if not hurry:
            self.do(self.turns())

    @rule(port=PORTS, mood=st.sampled_from(["up", "slow", "down", "garbage"]))
    def mood(self, port, mood):
        self.backends.set(f"http://h{port}:1", mood)
        self.do(self.turns())

    @rule(port=PORTS, version=st.none() | st.integers(0, 3))
    def add(self, port, version):
        async def now():
            self.gateway.add_backend(f"http://h{port}:1", wire="vllm", version=version)

        self.do(now())
        self.do(self.turns())

    @rule(number=NUMBERS, action=st.sampled_from(["drain", "remove", "try", "down"]))
    def change(self, number, action):
        known = self.gateway.backends.list()
        if not known:
            return
        chosen = known[number % len(known)].id

        async def now():
            if action == "try":
                self.gateway.backends.try_again(chosen)
            elif action == "down":
                self.gateway.backends.mark_unhealthy(chosen, "test")
            else:
                self.gateway.remove_backend(chosen, drain=action == "drain")
            self.gateway.desk.refresh()

        self.do(now())
        self.do(self.turns())

    @rule(version=st.none() | st.integers(0, 5))
    def swap(self, version):
        async def now():
            if version is None:
                self.gateway.clear_backends()
            else:
                self.gateway.desk.set_version(version)

        self.do(now())
        self.do(self.turns())

    @invariant()
    def permits_stay_within_their_pools(self):
        for permits in (*self.engine.pools.by_stage.values(), self.engine.pools.handover):
            assert 0 <= permits.held <= permits.size

    @invariant()
    def leases_are_counted_once(self):
        live = sum(b.live for b in self.gateway.backends._everywhere())
        assert live == self.gateway.desk.held

    @invariant()
    def each_job_has_at_most_one_result(self):
        answered = [record for record in self.records if record.result is not None]
        distinct = {id(record): record for record in answered}
        assert len(self.observer.results) == len(distinct)
        assert sorted(r.job_id for r in self.observer.results) == sorted(r.job.job_id for r in distinct.values())

    @invariant()
    def records_tell_the_truth(self):
        for result in self.observer.results:
            timing = result.timing
            assert result.outcome in ENDED
            assert result.reward is None or result.outcome in ("scored", "model_limit")
            assert result.trainable == (result.mask_reason is None)
            assert timing.counted + timing.permit_wait + timing.lease_wait + timing.queue_wait <= timing.total + 0.05
            for segment in result.trajectory.segments:
                assert sum(segment.loss_mask) == sum(s.end - s.start for s in segment.turns if s.role == "assistant")

    def teardown(self):
        if not hasattr(self, "gateway"):
            return
        for port in (1, 2, 3):
            self.backends.set(f"http://h{port}:1", "up")
        self.do(self.stop())
        self.do(self.stack.aclose())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        assert {record.result is not None for record in self.records} <= {True}

    async def stop(self):
        assert await self.gateway.stop() == 0
        await self.turns()
        assert [p.held for p in (*self.engine.pools.by_stage.values(), self.engine.pools.handover)] == [0] * 4
        assert self.engine.leases.held == self.gateway.desk.held == self.gateway.desk.waiting == 0
        assert not self.engine.table.running and not self.engine.table.unconfirmed and not self.gateway.records.live
        assert self.gateway.credit == self.settings.init_workers
        assert not self.engine.left_behind


CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


class TestServiceShort(ServiceMachine.TestCase):
    settings = settings(max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=CHECKS)


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestServiceLong(ServiceMachine.TestCase):
    settings = settings(max_examples=1500, stateful_step_count=50, deadline=None, suppress_health_check=CHECKS)
