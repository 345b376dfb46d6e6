import json
import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.errors import BackendContract
from raas_sdk.tokens import Ledger, check_segment
from raas_sdk.trajectory import Segment


def ledger_with(prompt, turns, **options):
    ledger = Ledger(**options)
    ledger.start_segment(prompt, messages=1)
    for index, (kind, ids, logprobs) in enumerate(turns, start=1):
        if kind == "sampled":
            ledger.append_sampled(ids, logprobs, message_index=index, finish_reason="stop", version=7)
        else:
            ledger.append_context(ids, message_index=index, role="tool")
    return ledger


def test_a_segment_is_the_plain_concatenation_of_prompt_replies_and_observations():
    turns = [
        ("sampled", [20, 21, 2], [-0.1, -0.2, -0.3]),
        ("context", [3, 30, 31], None),
        ("sampled", [40, 2], [-0.5, -0.6]),
    ]
    (segment,) = ledger_with([1, 10, 11], turns).segments()
    assert segment.token_ids.tolist() == [1, 10, 11, 20, 21, 2, 3, 30, 31, 40, 2]
    assert segment.loss_mask.tolist() == [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1]
    assert segment.prompt_len == 3
    sampled = [value for value, mask in zip(segment.logprobs, segment.loss_mask, strict=True) if mask]
    assert sampled == pytest.approx([-0.1, -0.2, -0.3, -0.5, -0.6])
    assert segment.versions == ((3, -1), (3, 7), (3, -1), (2, 7))
    check_segment(segment)


def test_spans_say_which_message_each_piece_belongs_to():
    turns = [("sampled", [20, 2], [-1, -1]), ("context", [3, 4, 5], None), ("sampled", [9], [-1])]
    (segment,) = ledger_with([1], turns).segments()
    spans = [(span.role, span.start, span.end, span.message_index) for span in segment.turns]
    assert spans == [("prompt", 0, 1, 0), ("assistant", 1, 3, 1), ("tool", 3, 6, 2), ("assistant", 6, 7, 3)]


def test_masked_positions_hold_logprob_zero_and_never_count_as_missing():
    (segment,) = ledger_with([1, 2], [("sampled", [3], [-2.0]), ("context", [4], None)]).segments()
    assert segment.logprobs.tolist() == [0.0, 0.0, -2.0, 0.0]
    assert segment.missing_logprobs == 0


@pytest.mark.parametrize(
    ("ids", "logprobs"),
    [
        ([20, 2], None),
        ([20, 21, 2], [-0.1, -0.2]),
        ([20], [-0.1, -0.2]),
        ([20], [0.3]),
        ([20], [math.nan]),
        ([20], [-math.inf]),
        ([20], [math.inf]),
        ([20], ["-0.1"]),
        ([20], [None]),
        ([20], [-1e300]),
        ([20.0], [-0.1]),
        ([-1], [-0.1]),
        ([True], [-0.1]),
        (["20"], [-0.1]),
        ([2**31], [-0.1]),
        ([100], [-0.1]),
    ],
)
def test_a_reply_that_cannot_be_trained_on_is_a_contract_error_and_changes_nothing(ids, logprobs):
    ledger = ledger_with([1, 10], [], vocab_size=100)
    before = ledger.segments()
    with pytest.raises(BackendContract) as caught:
        ledger.append_sampled(ids, logprobs, message_index=1, finish_reason="stop")
    assert caught.value.code == "backend_contract"
    assert ledger.segments() == before
    assert ledger.turns == ledger.sampled_tokens == ledger.prompt_tokens_sent == 0


def test_a_logprob_a_rounding_above_zero_is_kept_as_it_is():
    (segment,) = ledger_with([1], [("sampled", [5], [5e-7])]).segments()
    assert segment.logprobs[1] == array("f", [5e-7])[0]


def test_a_missing_logprob_needs_a_note_and_stays_visible():
    ledger = ledger_with([1], [])
    ledger.append_sampled(
        [5, 6], [math.nan, -0.5], message_index=1, finish_reason="stop", note="1 of 2 logprobs missing"
    )
    (segment,) = ledger.segments()
    assert segment.missing_logprobs == 1
    assert segment.turns[1].note == "1 of 2 logprobs missing"
    with pytest.raises(BackendContract):
        ledger.append_sampled([5], [0.5], message_index=2, finish_reason="stop", note="anything")


def test_an_empty_reply_is_a_turn_of_zero_tokens():
    ledger = ledger_with([1, 10], [("sampled", [], [])])
    (segment,) = ledger.segments()
    assert segment.token_ids.tolist() == [1, 10]
    assert segment.loss_mask.tolist() == [0, 0]
    assert (segment.turns[1].start, segment.turns[1].end) == (2, 2)
    assert ledger.turns == 1
    check_segment(segment)


def test_a_reply_cut_by_length_keeps_its_tokens_and_gets_no_end_token():
    ledger = ledger_with([1], [])
    ledger.append_sampled([20, 21, 22], [-0.1, -0.2, -0.3], message_index=1, finish_reason="length")
    (segment,) = ledger.segments()
    assert segment.token_ids.tolist() == [1, 20, 21, 22]
    assert segment.loss_mask.tolist() == [0, 1, 1, 1]
    assert segment.turns[1].finish_reason == "length"


def test_a_reply_in_two_parts_is_one_turn_with_both_versions():
    ledger = ledger_with([1], [])
    for ids, version in (([20, 21], 1), ([22, 23, 2], 2)):
        ledger.append_sampled(ids, [-0.1] * len(ids), message_index=1, finish_reason="stop", version=version)
    (segment,) = ledger.segments()
    assert segment.token_ids.tolist()[1:] == [20, 21, 22, 23, 2]
    assert segment.versions == ((1, -1), (2, 1), (3, 2))
    assert ledger.turns == 1
    assert ledger.sampled_tokens == 5


def test_an_end_token_that_the_backend_left_out_is_context_with_mask_zero():
    ledger = ledger_with([1, 10], [("sampled", [20, 21], [-0.1, -0.2])])
    ledger.append_context([2, 3, 4], message_index=2, role="user")
    (segment,) = ledger.segments()
    assert segment.token_ids.tolist() == [1, 10, 20, 21, 2, 3, 4]
    assert segment.loss_mask.tolist() == [0, 0, 1, 1, 0, 0, 0]


def test_a_new_segment_repeats_history_with_mask_zero():
    ledger = ledger_with([1, 10], [("sampled", [20, 2], [-0.1, -0.2])])
    ledger.start_segment([1, 10, 20, 2, 30], messages=3)
    ledger.append_sampled([40], [-0.3], message_index=3, finish_reason="stop", version=8)
    first, second = ledger.segments()
    assert sum(first.loss_mask) == 2
    assert second.loss_mask.tolist() == [0, 0, 0, 0, 0, 1]
    assert second.prompt_len == 5
    assert ledger.current_ids().tolist() == [1, 10, 20, 2, 30, 40]
    assert ledger.sampled_tokens == 3
    assert ledger.prompt_tokens_sent == 2 + 5


def test_later_appends_do_not_change_what_was_handed_out():
    ledger = ledger_with([1], [("sampled", [5], [-0.1])])
    ids, segments = ledger.current_ids(), ledger.segments()
    ledger.append_context([6], message_index=2, role="user")
    ids.append(99)
    assert segments[0].token_ids.tolist() == [1, 5]
    assert ledger.current_ids().tolist() == [1, 5, 6]


def test_the_ledger_refuses_to_go_back_to_an_earlier_message():
    ledger = ledger_with([1], [("sampled", [5], [-0.1]), ("context", [6], None)])
    with pytest.raises(ValueError, match="only appends"):
        ledger.append_context([7], message_index=1, role="user")


def test_nothing_can_be_appended_before_a_segment_is_open():
    for append in (
        lambda ledger: ledger.append_context([1], message_index=0, role="user"),
        lambda ledger: ledger.append_sampled([1], [-1.0], message_index=0, finish_reason="stop"),
        lambda ledger: ledger.current_ids(),
    ):
        with pytest.raises(ValueError, match="start_segment"):
            append(Ledger())
    assert Ledger().segments() == ()
    assert len(Ledger()) == 0


def test_context_ids_outside_the_vocabulary_are_refused():
    ledger = Ledger(vocab_size=10)
    with pytest.raises(ValueError, match="vocabulary of 10"):
        ledger.start_segment([1, 10], messages=1)
    with pytest.raises(ValueError, match="at least one message"):
        ledger.start_segment([1], messages=0)


def test_a_trajectory_of_200_thousand_tokens_survives_the_wire():
    ledger = Ledger()
    ledger.start_segment(range(100_000), messages=1)
    logprobs = [-(n % 977) / 311 for n in range(100_000)]
    ledger.append_sampled(range(100_000), logprobs, message_index=1, finish_reason="stop", version=1)
    (segment,) = ledger.segments()
    back = Segment.from_wire(json.loads(json.dumps(segment.to_wire())))
    assert back == segment
    assert all(type(number) is int for number in back.token_ids)
    assert back.logprobs[100_500] == pytest.approx(logprobs[500], rel=1e-6)
    assert Segment.from_wire(segment.to_wire(binary=True)) == segment


IDS = st.lists(st.integers(0, 999), max_size=6)
PIECES = st.lists(st.tuples(st.sampled_from(["sampled", "context", "segment"]), IDS), max_size=12)


@given(st.lists(st.integers(0, 999), min_size=1, max_size=6), PIECES)
def test_the_ledger_only_appends_and_concatenates_in_order(prompt, pieces):
    ledger = Ledger(vocab_size=1000)
    ledger.start_segment(prompt, messages=1)
    expected, sampled, earlier = list(prompt), 0, []
    for index, (kind, ids) in enumerate(pieces, start=1):
        before = ledger.current_ids().tolist()
        if kind == "segment" and ids:
            earlier.append(before)
            ledger.start_segment(ids, messages=index)
            expected = list(ids)
            continue
        if kind == "sampled":
            ledger.append_sampled(ids, [-1.0] * len(ids), message_index=index, finish_reason="stop")
            sampled += len(ids)
        else:
            ledger.append_context(ids, message_index=index, role="tool")
        expected += ids
        assert ledger.current_ids().tolist() == before + ids
    segments = ledger.segments()
    assert [segment.token_ids.tolist() for segment in segments] == [*earlier, expected]
    assert sum(segment.sampled_tokens for segment in segments) == sampled == ledger.sampled_tokens
    for segment in segments:
        check_segment(segment, vocab_size=1000)


def test_check_segment_names_what_does_not_fit():
    (segment,) = ledger_with([1, 2], [("sampled", [3], [-2.0])]).segments()
    row = segment.to_wire()
    broken = {
        "mask and ids differ": {"loss_mask": [0, 0]},
        "logprobs and ids differ": {"logprobs": [0.0]},
        "prompt lies outside": {"prompt_len": 9},
        "prompt token counts": {"prompt_len": 3},
        "version runs": {"versions": [[1, -1]]},
        "spans leave gaps": {"turns": row["turns"][:1]},
        "mask disagrees": {"loss_mask": [0, 0, 0]},
        "was not sampled has": {"logprobs": [0.0, -1.0, -2.0]},
    }
    for fault, change in broken.items():
        with pytest.raises(ValueError, match=fault):
            check_segment(Segment.from_wire({**row, **change}))
