"""Cutting a segment's ids into messages."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.server.message_tokens import messages_with_tokens, shown_segment
from raas_sdk.tokens import Ledger
from raas_sdk.trajectory import Segment, Trajectory, TurnSpan

ROLES = ("user", "tool")
TURN = st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(1, 5))


@given(st.lists(TURN, min_size=1, max_size=6))
def test_joined_ids_are_a_prefix_of_the_segment_and_the_mask_fits(turns):
    """Each turn: so many messages rendered together, so many ids for them, so many sampled."""
    ledger, messages = Ledger(), []
    for count, context, sampled in turns:
        start = len(messages)
        messages += [{"role": ROLES[n % 2], "content": ""} for n in range(count)]
        if start:
            ledger.append_context([7] * context, message_index=start, role="user")
        else:
            ledger.start_segment([7] * (context + 1), messages=count)
        ledger.append_sampled([9] * sampled, [-0.5] * sampled, message_index=len(messages), finish_reason="stop")
        messages.append({"role": "assistant", "content": ""})
    [segment] = ledger.segments()
    told = messages_with_tokens(Trajectory(segments=(segment,), messages=tuple(messages)))
    assert [token for m in told for token in m["token_ids"]] == segment.token_ids.tolist()
    mask = [m["role"] == "assistant" for m in told for _ in m["token_ids"]]
    assert mask == [bool(value) for value in segment.loss_mask]
    values = [value for m in told if m["logprobs"] for value in m["logprobs"]]
    assert values == [v for v, sampled in zip(segment.logprobs, segment.loss_mask, strict=True) if sampled]


def _segment(spans, mask, logprobs=None):
    count = len(mask)
    values = array("f", logprobs or [-0.5 * bit for bit in mask])
    ids = array("i", range(count))
    return Segment(ids, spans[0].end, array("B", mask), values, "raw", ((count, 0),), tuple(spans))


def test_the_segment_with_the_last_sampled_token_is_shown():
    sampled = _segment([TurnSpan(0, 1, "prompt", 0), TurnSpan(1, 2, "assistant", 1)], [0, 1])
    unsampled = _segment([TurnSpan(0, 2, "prompt", 0)], [0, 0])
    assert shown_segment(Trajectory(segments=(sampled, unsampled))) == 0
    assert shown_segment(Trajectory(segments=(unsampled, unsampled))) == 1
    assert shown_segment(Trajectory()) is None


def test_a_reply_sampled_in_two_parts_is_one_message():
    spans = [TurnSpan(0, 1, "prompt", 0), TurnSpan(1, 2, "assistant", 1), TurnSpan(2, 4, "assistant", 1)]
    messages = ({"role": "user"}, {"role": "assistant"})
    told = messages_with_tokens(Trajectory(segments=(_segment(spans, [0, 1, 1, 1]),), messages=messages))
    assert (told[1]["token_ids"], told[1]["logprobs"]) == ([1, 2, 3], [-0.5, -0.5, -0.5])


def test_a_logprob_that_the_backend_did_not_give_is_null():
    spans = [TurnSpan(0, 1, "prompt", 0), TurnSpan(1, 3, "assistant", 1, note="given for 1 of 2")]
    messages = ({"role": "user"}, {"role": "assistant"})
    segment = _segment(spans, [0, 1, 1], [0.0, -0.5, float("nan")])
    assert messages_with_tokens(Trajectory(segments=(segment,), messages=messages))[1]["logprobs"] == [-0.5, None]


def test_worked_examples_in_the_prompt_are_not_taken_for_sampled_replies():
    spans = [TurnSpan(0, 3, "prompt", 0), TurnSpan(3, 4, "assistant", 3)]
    messages = tuple({"role": role} for role in ("user", "assistant", "user", "assistant"))
    told = messages_with_tokens(Trajectory(segments=(_segment(spans, [0, 0, 0, 1]),), messages=messages))
    assert [m["token_ids"] for m in told] == [[0, 1, 2], [], [], [3]]
    assert [m["logprobs"] for m in told] == [None, [], None, [-0.5]]


def test_without_any_reply_there_are_no_messages():
    assert messages_with_tokens(Trajectory(messages=({"role": "user"},))) == []
