"""Any order of requests, releases, moves, and backends that come, go and fail: every lease is counted once."""

import asyncio
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from raas_sdk.backends.pool import BackendPool
from raas_sdk.engine.messages import BackendFailed, LeaseChanged, LeaseGranted, LeaseMove, LeaseRelease, LeaseRequest
from raas_sdk.gateway.lease_desk import LeaseDesk


class DeskMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.sent, self.down = [], []
        self.desk = LeaseDesk(BackendPool(Random(0)), self.sent.append, wait_seconds=600, on_unhealthy=self.down.append)
        self.jobs = {}
        self.count = 0

    def do(self, what):
        async def call():
            what()

        self.loop.run_until_complete(call())
        for message in self.sent:
            if message.job_id not in self.jobs:
                raise AssertionError(f"{message} for a job that asked for nothing")
            if isinstance(message, LeaseGranted) and message.target is not None:
                self.jobs[message.job_id] = message.target
            elif isinstance(message, LeaseChanged):
                assert self.jobs[message.job_id] is not None
                self.jobs[message.job_id] = message.target
        self.sent.clear()

    def held(self):
        return sorted(name for name, target in self.jobs.items() if target is not None)

    def backends(self):
        return sorted(backend.id for backend in self.desk.pool.list())

    @rule(port=st.integers(1, 3), version=st.none() | st.integers(0, 3))
    def add(self, port, version):
        self.do(lambda: self.desk.add(f"http://127.0.0.1:{port}", version=version, wire="vllm"))

    @rule()
    def clear(self):
        self.desk.pool.clear()
        self.do(self.desk.refresh)

    @precondition(lambda self: self.backends())
    @rule(data=st.data())
    def remove(self, data):
        self.desk.pool.remove(data.draw(st.sampled_from(self.backends())))
        self.do(self.desk.refresh)

    @precondition(lambda self: self.backends())
    @rule(data=st.data())
    def drain(self, data):
        self.desk.pool.drain(data.draw(st.sampled_from(self.backends())))
        self.do(self.desk.refresh)

    @precondition(lambda self: self.backends())
    @rule(data=st.data())
    def recover(self, data):
        self.desk.pool.mark_healthy(data.draw(st.sampled_from(self.backends())))
        self.do(self.desk.refresh)

    @rule(version=st.integers(0, 5))
    def set_version(self, version):
        self.do(lambda: self.desk.set_version(version))

    @rule()
    def request(self):
        name = f"j{self.count}"
        self.count += 1
        self.jobs[name] = None
        self.do(lambda: self.desk.request(LeaseRequest(name, 1, "default")))

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), twice=st.booleans())
    def release(self, data, twice):
        name = data.draw(st.sampled_from(sorted(self.jobs)))
        for _ in range(1 + twice):
            self.do(lambda: self.desk.release(LeaseRelease(name, 1)))
        del self.jobs[name]

    @precondition(lambda self: self.held())
    @rule(data=st.data())
    def fail_and_move(self, data):
        name = data.draw(st.sampled_from(self.held()))
        before = self.jobs[name]
        place = (before["backend_id"], before["epoch"])
        self.jobs[name] = None
        self.do(lambda: self.desk.failed(BackendFailed(name, 1, *place, "no answer")))
        self.do(lambda: self.desk.move(LeaseMove(name, 1, *place)))
        after = self.jobs[name]
        if after is None:
            pool = self.desk.pool
            alike = [b for b in pool.list() if b.usable and b.version == before["version"]]
            assert not alike, "it waits although another backend has its weights"
        elif after["version"] != before["version"]:
            own = [b for b in self.desk.pool.list() if b.version == before["version"] and not b.draining]
            assert not own, "it got other weights although its own may come back"

    @precondition(lambda self: self.held())
    @rule(data=st.data(), tokens=st.integers(1, 50))
    def sample(self, data, tokens):
        name = data.draw(st.sampled_from(self.held()))
        self.desk.pool.sampled(self.jobs[name]["backend_id"], tokens=tokens, seconds=1.0)
        self.do(self.desk.refresh)

    @precondition(lambda self: self.held())
    @rule(data=st.data())
    def late_fault_of_an_old_epoch_is_nobodys(self, data):
        name = data.draw(st.sampled_from(self.held()))
        target, before = self.jobs[name], [b.health for b in self.desk.pool.list()]
        self.do(lambda: self.desk.failed(BackendFailed(name, 1, target["backend_id"], target["epoch"] - 1, "late")))
        assert [b.health for b in self.desk.pool.list()] == before

    @precondition(lambda self: self.backends())
    @rule(data=st.data())
    def try_again(self, data):
        self.desk.pool.try_again(data.draw(st.sampled_from(self.backends())))
        self.do(self.desk.refresh)

    @precondition(lambda self: self.backends())
    @rule(data=st.data())
    def remove_now(self, data):
        self.do(lambda: self.desk.remove(data.draw(st.sampled_from(self.backends()))))
        self.do(self.desk.refresh)

    @invariant()
    def every_lease_is_counted_once(self):
        held = self.held()
        assert self.desk.held == len(held) and self.desk.waiting == len(self.jobs) - len(held)
        for backend in self.desk.pool.list():
            assert backend.live == sum(1 for name in held if self.jobs[name]["backend_id"] == backend.id)

    @invariant()
    def nobody_waits_while_a_backend_is_usable(self):
        for waiting in self.desk._waiting.values():
            fits = [b for b in self.desk.pool.list() if b.usable and waiting.version in (None, b.version)]
            assert not fits

    @invariant()
    def one_job_at_a_time_tries_a_backend(self):
        for backend in self.desk.pool.list():
            assert backend.tried_by is None or backend.health == "trial"

    def teardown(self):
        self.do(self.desk.close)
        assert self.desk.held == self.desk.waiting == 0
        assert all(backend.live == 0 for backend in self.desk.pool.list())
        self.loop.close()


DeskMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLeaseDesk = DeskMachine.TestCase
