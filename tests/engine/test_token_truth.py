"""What is in the record is what the backend was sent and what it sampled, token by token."""

import asyncio
import random

import pytest

from raas_sdk import LimitReached, Reward
from raas_sdk.testing.faults import Fault
from raas_sdk.tokens.alignment import check_segment

TALK = random.Random(5)
SCRIPT = [[TALK.randrange(32, 127) for _ in range(TALK.randrange(1, 9))] + [257] for _ in range(23)]
SCRIPT += [[65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81]]


async def several_turns(self, job, policy):
    talk = policy.conversation([{"role": "user", "content": f"job {job.job_id}"}])
    try:
        for turn in range(job.instance.payload["turns"]):
            await talk.sample()
            talk.append({"role": "user", "content": f"and {turn}?"}, {"role": "user", "content": "ż"})
    except LimitReached:
        return "cut"
    return "whole"


def calls_by_job(backends):
    """The fakes' own records, in order, by the job that asked."""
    found = {}
    for backend in backends:
        for call in backend.calls:
            found.setdefault(call.request_id.rsplit("-", 2)[0], []).append((call, backend))
    return found


def calls_by_prompt(backends):
    """For wires without request ids: the job's name stands in its prompt."""
    found = {}
    for backend in backends:
        for call in backend.calls:
            text = bytes(token for token in call.prompt_ids if token < 256)
            name = text.split(b"job ")[1].split(b"\n")[0].decode()
            found.setdefault(name, []).append((call, backend))
    return found


def check(result, calls):
    """Every segment is built of what was sent and sampled, and of nothing else."""
    left = list(calls)
    for segment in result.trajectory.segments:
        check_segment(segment)
        ids, sampled = tuple(segment.token_ids), []
        for span in [span for span in segment.turns if span.role == "assistant"]:
            call, backend = left.pop(0)
            assert ids[: span.start] == call.prompt_ids
            assert ids[span.start : span.end] == call.response_ids
            assert tuple(segment.logprobs[span.start : span.end]) == call.logprobs
            assert set(segment.loss_mask[span.start : span.end]) == {1}
            assert (span.backend, span.finish_reason) == (backend.address, call.finish_reason)
            sampled += call.response_ids
        assert sum(segment.loss_mask) == len(sampled) == segment.sampled_tokens
    assert not left
    assert result.usage.sampled_tokens == sum(len(call.response_ids) for call, _ in calls)
    assert result.usage.prompt_tokens == sum(len(call.prompt_ids) for call, _ in calls)
    assert result.trajectory.num_turns == len(calls)


@pytest.mark.parametrize("wire", ["vllm", "vllm_completions", "prorl", "llamacpp"])
async def test_64_jobs_at_once_over_two_backends_record_what_was_sent_and_sampled(service, task, wire):
    async with service(task(run=several_turns), backends=2, wire=wire, script=SCRIPT, idle=True) as s:
        jobs = [s.submit(f"j{n}", instance={"turns": 1 + n % 7}, limits={"max_output_tokens": 12}) for n in range(64)]
        results = {job.job.job_id: await job.done for job in jobs}
        with_ids = wire in ("vllm", "vllm_completions")
        calls = calls_by_job(s.backends) if with_ids else calls_by_prompt(s.backends)
        for name, result in results.items():
            assert (result.outcome, result.reward) == ("scored", 1.0)
            assert result.trainable and len(calls[name]) == result.trajectory.num_turns
            check(result, calls[name])
            assert len({backend.address for _, backend in calls[name]}) == 1


async def test_faults_on_the_way_leave_no_trace_in_the_tokens(service, task):
    async with service(task(run=several_turns), backends=2, script=SCRIPT) as s:
        chance = random.Random(3)
        kinds = [
            "cut",
            Fault("status", status=503),
            Fault("status", status=429),
            "half_json",
            "nan_logprobs",
            None,
            None,
        ]
        for backend in s.backends:
            backend.faults.queued.extend(
                Fault(kind) if isinstance(kind, str) else kind for kind in chance.choices(kinds, k=60)
            )
        jobs = [s.submit(f"j{n}", instance={"turns": 4}, limits={"infra_retries": 9}) for n in range(24)]
        results = [await job.done for job in jobs]
        everything = calls_by_job(s.backends)
        assert {result.outcome for result in results} == {"scored"}
        for result in results:
            last = [
                pair
                for pair in everything[result.job_id]
                if pair[0].request_id.rsplit("-", 2)[1] == str(result.attempt)
            ]
            check(result, sorted(last, key=lambda pair: int(pair[0].request_id.rsplit("-", 1)[1])))
            assert result.trainable


async def test_a_reply_without_an_end_of_turn_is_closed_before_the_next_message(service, task):
    async with service(task(run=several_turns), script=[[65, 66], [67, 257]]) as s:
        result = await s.result("j", instance={"turns": 3})
        check(result, calls_by_job(s.backends)["j"])
        (segment,) = result.trajectory.segments
        first = next(span for span in segment.turns if span.role == "assistant")
        assert segment.token_ids[first.end] == 257 and segment.loss_mask[first.end] == 0


async def test_parallel_conversations_keep_their_tokens_apart(service, task):
    async def run(self, job, policy):
        async def chat(n):
            talk = policy.conversation([{"role": "user", "content": f"branch {n}"}])
            for _ in range(3):
                await talk.sample()
                talk.append({"role": "user", "content": "on"})

        await asyncio.gather(*(chat(n) for n in range(5)))
        return 1

    async def evaluate(self, trajectory):
        return Reward(float(trajectory.num_turns == 15))

    async with service(task(run=run, eval=evaluate), script=SCRIPT) as s:
        result = await s.result("j")
        assert result.reward == 1.0 and len(result.trajectory.segments) == 5
        calls = {call.request_id.rsplit("-", 1)[1]: call for call in s.backends[0].calls}
        assert len(calls) == 15
        for segment in result.trajectory.segments:
            check_segment(segment)
            for span in (span for span in segment.turns if span.role == "assistant"):
                call = calls[span.request_id.rsplit("-", 1)[1]]
                assert tuple(segment.token_ids[: span.end]) == call.prompt_ids + call.response_ids
