"""Bridges: whatever a template does, what was sent and sampled stays a prefix, or a new segment starts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raas_sdk.tokens import check_segment, load_renderer
from raas_sdk.workspace import Tool

END = 257
CALL = {"id": "call_0_1", "name": "lookup", "arguments": {"key": "a"}}
LOOKUP = Tool("lookup", "Looks up.", {"type": "object", "properties": {"key": {"type": "string"}}})
QUESTION = {"role": "user", "content": "Hello"}
TRAPS = ["forgets_thinking", "drops_old_thinking", "merges_results", "counts_messages"]


def result(text, role="tool"):
    return {"role": role, "content": text, **({"name": "lookup"} if role == "tool" else {})}


def history(reply, **more):
    return [QUESTION, {"role": "assistant", "content": reply, **more}]


@pytest.fixture(scope="session")
def chatml():
    return load_renderer("test:chatml")


def test_the_separator_after_the_end_token_appears_once_and_belongs_to_the_bridge(chatml):
    bridge = chatml.bridge(history("Yes."), [result("and?", "user")], (), closed=True)
    assert chatml.decode(bridge) == "\n<|im_start|>user\nand?<|im_end|>\n<|im_start|>assistant\n"
    whole = chatml.prompt([*history("Yes."), result("and?", "user")], ())
    before = chatml.prompt([QUESTION], ())
    assert whole == before + list(b"Yes.") + [END] + bridge


def test_an_unclosed_reply_is_closed_by_the_bridge(chatml):
    closed = chatml.bridge(history("Yes"), [result("x")], (), closed=True)
    assert chatml.bridge(history("Yes"), [result("x")], (), closed=False) == [END, *closed]


def test_sampling_again_without_new_messages_starts_a_new_reply(chatml):
    bridge = chatml.bridge(history(""), [], (), closed=False)
    assert chatml.decode(bridge) == "<|im_end|>\n<|im_start|>assistant\n"


def test_a_template_that_rewrites_its_head_gives_no_bridge(renderer_for):
    renderer = renderer_for("counts_messages")
    assert renderer.bridge(history("Yes."), [result("x", "user")], (), closed=True) is None


def test_a_template_that_only_shows_new_reasoning_bridges_results_and_refuses_user_turns(renderer_for):
    renderer = renderer_for("forgets_thinking")
    bridge = renderer.bridge(history("<think>\nhm\n</think>\n\nok"), [result("x")], (), closed=True)
    assert renderer.decode(bridge) == "\n<|im_start|>tool\nx<|im_end|>\n<|im_start|>assistant\n"
    assert renderer.bridge(history("ok"), [result("x", "user")], (), closed=True) is None


def test_sampled_reasoning_stays_in_the_ids_when_the_template_would_drop_it_later(renderer_for, driver):
    chat = driver(renderer_for("drops_old_thinking"), [QUESTION])
    chat.start()
    first = [*b"<think>hm</think>yes", END]
    chat.reply(first)
    chat.tell(result("go on", "user"))
    chat.reply([*b"done", END])
    (segment,) = chat.ledger.segments()
    ids = segment.token_ids.tolist()
    assert ids[segment.prompt_len : segment.prompt_len + len(first)] == first


def test_results_that_share_a_turn_are_bridged_together(renderer_for):
    renderer = renderer_for("merges_results")
    before = history("let me see", tool_calls=[CALL, CALL])
    new = [result("one"), result("two")]
    bridge = renderer.bridge(before, new, (LOOKUP,), closed=True)
    shown = "\n<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>"
    assert renderer.decode(bridge) == f"\n<|im_start|>user{shown}<|im_end|>\n<|im_start|>assistant\n"


def test_a_result_without_a_call_is_refused_by_a_strict_template(renderer_for):
    renderer = renderer_for("merges_results")
    assert renderer.bridge(history("no call"), [result("one")], (), closed=True) is None


def test_the_thinking_switch_reaches_prompt_and_bridge(renderer_for):
    off = renderer_for("forgets_thinking").with_thinking(enabled=False)
    assert off.decode(off.prompt([QUESTION], ())).endswith("assistant\n<think>\n\n</think>\n\n")
    bridge = off.bridge(history("ok", tool_calls=[CALL]), [result("x")], (), closed=True)
    assert off.decode(bridge).endswith("assistant\n<think>\n\n</think>\n\n")
    back = off.with_thinking(enabled=None)
    assert back.decode(back.prompt([QUESTION], ())).endswith("assistant\n")


def test_the_work_of_a_bridge_does_not_grow_with_the_history(chatml):
    long = [QUESTION, *history("x" * 50)[1:]] * 400
    assert chatml.bridge(long, [result("x")], (), closed=True) == chatml.bridge(
        long[-1:], [result("x")], (), closed=True
    )


TEXT = st.one_of(st.text(max_size=12), st.sampled_from(["<|im_end|>", "a<|im_start|>b", "<think>x</think>y", " \n "]))
NEW = st.lists(st.tuples(st.sampled_from(["tool", "user"]), TEXT), min_size=1, max_size=3)
ROUND = st.tuples(st.lists(st.integers(0, 258), max_size=10), st.booleans(), st.booleans(), NEW)


def play(chat, rounds):
    chat.start()
    for ids, closed, calls, new in rounds:
        finish = {"finish_reason": "stop" if closed else "length", "tool_calls": [CALL] if calls else []}
        chat.reply([*ids, END] if closed else ids, **finish)
        # A strict template takes results only after calls, so the conversation respects that.
        chat.tell(*(result(text, role if calls else "user") for role, text in new))
    chat.reply([*b"bye", END])


@pytest.mark.parametrize("name", ["test:chatml", "test:plain", *TRAPS])
@settings(max_examples=25)
@given(rounds=st.lists(ROUND, max_size=4))
def test_what_was_sent_and_sampled_stays_a_prefix_or_a_new_segment_starts(name, rounds, renderer_for, driver):
    renderer = load_renderer(name) if name.startswith("test:") else renderer_for(name)
    if name == "merges_results":
        rounds = [(i, c, k, sorted(n, key=lambda new: new[0])) for i, c, k, n in rounds]
    chat = driver(renderer, [QUESTION], tools=(LOOKUP,))
    play(chat, rounds)
    for (sent, sampled, segment), (next_sent, _, next_segment) in zip(chat.log, chat.log[1:], strict=False):
        if segment == next_segment:
            assert next_sent[: len(sent) + len(sampled)] == sent + sampled
    segments = chat.ledger.segments()
    last = {number: sent + sampled for sent, sampled, number in chat.log}
    assert [segment.token_ids.tolist() for segment in segments if any(segment.turns[1:])] == list(last.values())
    assert sum(s.sampled_tokens for s in segments) == sum(len(sampled) for _, sampled, _ in chat.log)
    for segment in segments:
        check_segment(segment, vocab_size=renderer.vocab_size)
    if name.startswith("test:"):
        assert len(segments) == 1


HONEST = st.text(max_size=20).filter(lambda text: "<|" not in text)
HONEST_NEW = st.lists(st.tuples(st.sampled_from(["tool", "user"]), HONEST), min_size=1, max_size=3)


@settings(max_examples=60)
@given(replies=st.lists(st.tuples(HONEST, HONEST_NEW), min_size=1, max_size=4))
def test_bridges_of_an_append_only_template_equal_the_rendering_of_the_whole_chat(replies, chatml):
    messages = [{"role": "system", "content": "Be brief."}, QUESTION]
    ids = chatml.prompt(messages, (LOOKUP,))
    for reply, new in replies:
        messages.append({"role": "assistant", "content": reply})
        new = [result(text, role) for role, text in new]
        ids += [*reply.encode(), END, *chatml.bridge(messages, new, (LOOKUP,), closed=True)]
        messages += new
        assert ids == chatml.prompt(messages, (LOOKUP,))
