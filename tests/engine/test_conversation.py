"""Sampling as plugins do it, rightly and wrongly; versions and seeds; what ends in the record."""

import asyncio

import pytest

from raas_sdk import BackendFault, PluginFault, Reward, Tool
from raas_sdk.tokens.alignment import check_segment

CHAT = [{"role": "user", "content": "hi"}]
MORE = {"role": "user", "content": "more"}


async def test_a_turn_tells_what_was_sampled(service, task):
    async def run(self, policy):
        turn = await policy.conversation(CHAT).sample()
        return [turn.index, turn.text, turn.finish_reason, turn.n_tokens, turn.policy_version]

    async with service(task(run=run)) as s:
        assert (await s.result()).trajectory.submission == [0, "hi", "stop", 3, 0]


async def test_after_a_fault_the_same_turn_is_sampled_again(service, task):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        try:
            await talk.sample()
        except BackendFault:
            turn = await talk.sample()
        return turn.index

    async with service(task(run=run)) as s:
        s.backends[0].faults.fail_next(1, "status", status=401)
        result = await s.result(sampling={"seed": 3})
        assert (result.outcome, result.trajectory.submission, result.attempt) == ("scored", 0, 1)
        (segment,) = result.trajectory.segments
        (call,) = s.backends[0].calls
        assert tuple(segment.token_ids) == call.prompt_ids + call.response_ids
        assert call.request_id.endswith("-1-0")


async def test_after_a_turn_that_was_given_up_the_chat_goes_on_in_a_segment_that_tells_the_truth(service, task):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        await talk.sample()
        talk.append(MORE)
        try:
            async with asyncio.timeout(0.02):
                await talk.sample()
        except TimeoutError:
            talk.append({"role": "user", "content": "never mind"})
        return (await talk.sample()).index

    async with service(task(run=run)) as s:
        s.backends[0].faults.pass_next()
        s.backends[0].faults.fail_next(1, "hang")
        result = await s.result()
        assert (result.outcome, result.trajectory.submission, result.trajectory.num_turns) == ("scored", 1, 2)
        first, second = s.backends[0].calls
        last = result.trajectory.segments[-1]
        assert tuple(last.token_ids) == second.prompt_ids + second.response_ids
        assert tuple(result.trajectory.segments[0].token_ids[: len(first.prompt_ids) + 3]) == first.prompt_ids + (
            first.response_ids
        )
        assert result.trajectory.sampled_tokens == 6
        for segment in result.trajectory.segments:
            check_segment(segment)


@pytest.mark.parametrize(
    ("misuse", "code"),
    [
        (lambda policy: policy.conversation([]), "empty_conversation"),
        (lambda policy: policy.conversation(["text"]), "bad_message"),
        (lambda policy: policy.conversation([{"role": "user", "content": object()}]), "bad_message"),
        (lambda policy: policy.conversation(CHAT, [Tool("t", "", {"x": {1}})]), "bad_message"),
        (lambda policy: policy.conversation(CHAT).append({"role": "user", "content": {1, 2}}), "bad_message"),
        (lambda policy: policy.conversation(CHAT).append({"role": "user", "content": "\ud800"}), "bad_message"),
        (lambda policy: policy.conversation(CHAT).annotate(content="x", tool_calls=[]), "annotate_order"),
    ],
)
async def test_misuse_is_the_plugins_fault_and_says_so(service, task, misuse, code):
    async def run(self, policy):
        misuse(policy)

    async with service(task(run=run)) as s:
        result = await s.result()
        assert (result.outcome, result.failure.code) == ("task_error", code)


async def test_sampling_twice_without_a_new_message_is_refused(service, task):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        await talk.sample()
        await talk.sample()

    async with service(task(run=run)) as s:
        assert (await s.result()).failure.code == "nothing_new"


@pytest.mark.parametrize("use", ["sample", "append", "annotate"])
async def test_a_conversation_is_not_used_while_its_reply_is_sampled(service, task, use):
    async def run(self, policy):
        talk = policy.conversation(CHAT)
        first = asyncio.create_task(talk.sample())
        await asyncio.sleep(0)
        try:
            if use == "sample":
                await talk.sample()
            elif use == "append":
                talk.append(MORE)
            else:
                talk.annotate(content="x", tool_calls=[])
        except PluginFault as fault:
            await first
            return fault.code

    async with service(task(run=run)) as s:
        result = await s.result()
        assert result.trajectory.submission == "conversation_busy" and result.trajectory.num_turns == 1


async def test_a_plugin_cannot_change_what_was_said(service, task):
    async def run(self, policy):
        message = {"role": "user", "content": "hi", "parts": ["a"]}
        talk = policy.conversation([message])
        message["parts"].append("b")
        await talk.sample()
        return 1

    async with service(task(run=run)) as s:
        result = await s.result()
        assert result.trajectory.messages[0] == {"role": "user", "content": "hi", "parts": ["a"]}


async def test_conversations_at_once_have_seeds_and_indices_of_their_own(service, task):
    async def run(self, policy):
        talks = [policy.conversation(CHAT) for _ in range(8)]
        turns = await asyncio.gather(*(talk.sample() for talk in talks))
        return sorted(turn.index for turn in turns)

    async with service(task(run=run)) as s:
        result = await s.result(sampling={"seed": 1})
        assert result.trajectory.submission == list(range(8)) and result.trajectory.num_turns == 8
        assert len({call.params["sampling_params"]["seed"] for call in s.backends[0].calls}) == 8
        assert len({call.request_id for call in s.backends[0].calls}) == 8
        assert len(result.trajectory.segments) == 8 and result.trainable


async def test_conversations_at_once_share_the_jobs_turns(service, task):
    async def run(self, policy):
        talks = [policy.conversation(CHAT) for _ in range(8)]
        done = await asyncio.gather(*(talk.sample() for talk in talks), return_exceptions=True)
        return sum(1 for turn in done if not isinstance(turn, Exception))

    async with service(task(run=run)) as s:
        result = await s.result(limits={"max_turns": 3})
        assert (result.trajectory.submission, result.trajectory.num_turns) == (3, 3)
        assert result.outcome == "model_limit"


@pytest.mark.parametrize(
    "fault", ["nan_logprobs", "infinite_logprobs", "short_logprobs", "positive_logprobs", "no_ids"]
)
async def test_an_answer_that_cannot_be_trained_on_is_never_in_the_record(service, task, fault):
    async with service(task()) as s:
        s.backends[0].faults.always = fault
        result = await s.result()
        assert (result.outcome, result.failure.code, result.reward) == ("infra_error", "backend_contract", None)
        assert result.trajectory.sampled_tokens == 0 and not result.trainable


@pytest.mark.parametrize("fault", ["html", "empty", "half_json", "other_shape", "error_object"])
async def test_garbage_from_a_backend_is_an_infra_error_and_never_reward_0(service, task, fault):
    async with service(task()) as s:
        s.backends[0].faults.always = fault
        result = await s.result(limits={"infra_retries": 0})
        assert (result.outcome, result.failure.code, result.reward) == ("infra_error", "backend_contract", None)
        s.backends[0].faults.always = None
        assert (await s.result()).outcome == "scored"


async def test_a_refusal_by_the_backend_is_not_tried_again_and_its_reason_reaches_the_caller(service, task):
    from raas_sdk.testing.faults import Fault

    async with service(task()) as s:
        s.backends[0].faults.always = Fault("status", status=401, text="invalid key")
        result = await s.result()
        assert (result.outcome, result.failure.code, result.attempt) == ("infra_error", "backend_refused", 1)
        assert "401" in result.failure.message and "invalid key" in result.failure.message
        assert s.backends[0].requests == 1


async def test_a_backend_that_fails_for_ever_is_asked_a_bounded_number_of_times(service, task):
    async with service(task(), backend_rest_seconds=0.01) as s:
        s.backends[0].faults.always = "status"
        result = await s.result()
        assert (result.outcome, result.failure.code) == ("infra_error", "backend_unreachable")
        assert s.backends[0].requests <= 10


async def test_a_broken_connection_costs_no_job(service, task):
    async with service(task()) as s:
        s.backends[0].faults.fail_next(1, "cut")
        results = await asyncio.gather(*(s.result() for _ in range(8)))
        assert {result.outcome for result in results} == {"scored"}


async def test_a_swap_of_weights_in_a_reply_is_recorded_token_by_token_where_the_wire_tells_it(service, task):
    async with service(task(), script=[[104, 105, 106, 257]]) as s:
        s.backends[0].version = "4"
        s.backends[0].faults.fail_next(1, "swap")
        result = await s.result()
        (segment,) = result.trajectory.segments
        assert segment.versions[1:] == ((2, 4), (2, 5))
        assert result.policy_version == {"dispatch": 0, "min": 4, "max": 5}
        assert result.trainable and segment.sampled_tokens == 4 and result.trajectory.num_turns == 1


async def test_a_swap_of_weights_that_no_wire_tells_makes_the_turn_untrainable(service, task):
    async with service(task(), wire="prorl") as s:
        s.backends[0].faults.latency_seconds = 0.02
        job = s.submit()
        await s.backends[0].wait_requests(1)
        s.gateway.desk.set_version(9)
        result = await job.done
        assert result.outcome == "scored" and result.mask_reason == "mixed_policy_version"
        assert result.policy_version["dispatch"] == 0


async def test_a_segment_ends_where_the_history_was_rewritten(service, task):
    async def run(self, policy):
        one, two = policy.conversation(CHAT), policy.conversation([{"role": "system", "content": "s"}, *CHAT])
        for talk in (one, two, one, two):
            await talk.sample()
            talk.append(MORE)
        return 1

    async def evaluate(self, trajectory):
        return Reward(float(trajectory.num_turns == 4 and len(trajectory.segments) == 2))

    async with service(task(run=run, eval=evaluate)) as s:
        result = await s.result()
        assert result.reward == 1.0 and result.trainable
        for segment in result.trajectory.segments:
            check_segment(segment)


async def test_a_run_that_catches_everything_and_asks_again_for_ever_still_ends_by_its_budget(service, task):
    async def careless(self, job, policy):
        talk = policy.conversation([{"role": "user", "content": "x"}])
        while True:
            try:
                await talk.sample()
            except Exception:
                continue

    async with service(task(run=careless)) as s:
        limits = {"max_turns": 1, "run_seconds": 0.05, "collect_seconds": 0.05}
        result = await s.result("j", limits=limits)
    assert (result.outcome, result.reward) == ("timeout", None)
