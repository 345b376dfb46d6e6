"""The policy as plugins get it: conversations over token ids, sampled from the leased backend."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest, Generation
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.leases import HeldLease
from raas_sdk.engine.owned_workspace import SoftEnd
from raas_sdk.errors import BackendUnreachable, LimitReached, NoBackend, PluginFault
from raas_sdk.job import Job
from raas_sdk.json_data import json_copy
from raas_sdk.limits import Limits
from raas_sdk.policy import Message, Turn
from raas_sdk.tokens import Ledger, Renderer
from raas_sdk.workspace import Tool

__all__ = ["LeasedConversation", "LeasedPolicy", "Sampled"]

PLACEMENTS = 3
"""How many backends one reply is asked for at, one after another; each is asked several times."""
TURN_TOKENS = 2048
"""Tokens of one reply when the job names neither max_output_tokens nor max_model_len."""


class Sampled(NamedTuple):
    """A reply, where it came from, and the seconds of the call that gave it."""

    target: BackendTarget
    reply: Generation
    seconds: float


TurnListener = Callable[[Turn, Sampled], None]


class LeasedPolicy:
    """Samples on the job's lease. Keeps what happened, whatever the plugin does with its conversations."""

    def __init__(
        self,
        job: Job,
        lease: HeldLease,
        *,
        client: BackendClient,
        renderer: Renderer,
        soft_end: SoftEnd,
        listener: TurnListener,
        uncounted: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.job = job
        self.lease = lease
        self.client = client
        self.renderer = renderer
        self.soft_end = soft_end
        self.listener = listener
        self.uncounted = uncounted
        self.conversations: list[LeasedConversation] = []
        self.turns = 0
        self.dispatch_version = lease.target.version
        self._next_turn = 0
        self._under_way = 0
        self.limit_reason: str | None = None
        self.model_seconds = 0.0

    @property
    def limits(self) -> Limits:
        """The job's limits."""
        return self.job.limits

    @property
    def tool_format(self) -> str:
        """How this model writes tool calls."""
        return self.renderer.tool_format

    @property
    def sampled_tokens(self) -> int:
        """Over all conversations of the job."""
        return sum(conversation.ledger.sampled_tokens for conversation in self.conversations)

    def conversation(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> "LeasedConversation":
        """Start a chat; raise PluginFault if it has no message, or one that is no plain data."""
        conversation = LeasedConversation(self, messages, tools)
        self.conversations.append(conversation)
        return conversation

    def reach(self, reason: str) -> LimitReached:
        """Note the first limit that was reached; return the exception to raise."""
        self.limit_reason = self.limit_reason or reason
        return LimitReached(reason)

    async def generate(self, request: GenerateRequest) -> Sampled:
        """Sample on the leased backend; where it gives no reply, go on elsewhere, or there when it is back."""
        faults: list[BackendUnreachable] = []
        while True:
            target, began = self.lease.target, time.monotonic()
            try:
                earlier = sum(fault.tries for fault in faults)
                reply = await self.client.generate(target, request, earlier_tries=earlier)
                return Sampled(target, _told(reply, faults), time.monotonic() - began)
            except BackendUnreachable as fault:
                faults.append(fault)
                self.lease.failed(target, str(fault))
                if len(faults) == PLACEMENTS:
                    raise
            finally:
                self.model_seconds += time.monotonic() - began
            await self._moved(target, faults[-1])

    async def _moved(self, away_from: BackendTarget, fault: BackendUnreachable) -> None:
        """Wait for a place to sample; the wait counts towards no budget."""
        try:
            with self.uncounted():
                await self.lease.move(away_from)
        except NoBackend as lack:
            raise BackendUnreachable(f"{fault}; {lack}") from fault

    @contextmanager
    def turn_under_way(self) -> Iterator[int]:
        """Number a turn while it is sampled; raise LimitReached if no more is allowed.

        Turns of several conversations that are sampled at once get different numbers, and so seeds. A number
        whose turn failed is used again if it was the last.
        """
        self._check_turns()
        number = self._next_turn
        self._next_turn += 1
        self._under_way += 1
        sampled = self.turns
        try:
            yield number
        finally:
            self._under_way -= 1
            if self.turns == sampled and self._next_turn == number + 1:
                self._next_turn = number

    def _check_turns(self) -> None:
        if self.soft_end.reason is not None:
            raise self.reach(self.soft_end.reason)
        if self.turns + self._under_way >= self.limits.max_turns:
            raise self.reach("turns")
        most = self.limits.max_total_tokens
        if most is not None and self.sampled_tokens >= most:
            raise self.reach("tokens")


class LeasedConversation:
    """One chat; its ledger holds every token that was sent and sampled."""

    def __init__(self, policy: LeasedPolicy, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        if not messages:
            raise PluginFault("a conversation needs at least one message", code="empty_conversation")
        self._policy = policy
        self._messages: list[Message] = [_plain(message) for message in messages]
        self.tools = tuple(Tool(tool.name, tool.description, _plain(tool.parameters)) for tool in tools)
        self.ledger = Ledger(vocab_size=policy.renderer.vocab_size)
        self._rendered = 0
        self._answered = True
        self._sampling = False
        self._closed = True
        self.finish_reason: str | None = None

    @property
    def messages(self) -> Sequence[Message]:
        """All messages so far, the sampled ones included."""
        return tuple(self._messages)

    def append(self, *messages: Message) -> None:
        """Add what the policy is told next; raise PluginFault while a reply is being sampled."""
        self._check_idle()
        self._messages.extend(_plain(message) for message in messages)

    def annotate(self, *, content: str, tool_calls: Sequence[Mapping[str, Any]]) -> None:
        """Say how the last reply was parsed."""
        self._check_idle()
        last = self._messages[-1]
        if last.get("role") != "assistant":
            raise PluginFault("annotate must follow sample(), before append()", code="annotate_order")
        self._messages[-1] = _plain({**last, "content": content, "tool_calls": list(tool_calls)})

    async def sample(self) -> Turn:
        """Sample the next reply on the leased backend; after a fault it may be called again for the same turn."""
        policy = self._policy
        self._check_idle()
        self._sampling = True
        try:
            with policy.turn_under_way() as number:
                request = self._request(number, room=self._render_pending())
                return self._record(number, await self._generate(request), seed=request.seed)
        except Exception:
            # A plugin that catches everything and asks again at once must not hold up the event loop.
            await asyncio.sleep(0)
            raise
        finally:
            self._sampling = False

    def _check_idle(self) -> None:
        if self._sampling:
            raise PluginFault("await sample() before using its conversation again", code="conversation_busy")

    async def _generate(self, request: GenerateRequest) -> Sampled:
        policy = self._policy
        try:
            sampled: Sampled = await policy.soft_end.bounded(policy.generate(request))
        except LimitReached as limit:
            raise policy.reach(limit.reason) from limit
        return sampled

    def _render_pending(self) -> int:
        """Put the messages since the last turn into the ledger; return how many tokens the reply may have.

        A new segment starts where no bridge holds. What has no room is not recorded: it is never sent.
        """
        new = self._messages[self._rendered :]
        if not new:
            if self._answered:
                raise PluginFault("append a message before sampling again", code="nothing_new")
            return self._room(len(self.ledger))
        bridge = self._bridge(new) if self._rendered and self._answered else None
        if bridge is None:
            prompt = self._policy.renderer.prompt(self._messages, self.tools)
            room = self._room(len(prompt))
            self.ledger.start_segment(prompt, messages=len(self._messages))
        else:
            room = self._room(len(self.ledger) + len(bridge))
            self.ledger.append_context(bridge, message_index=self._rendered, role=str(new[0].get("role")))
        self._rendered = len(self._messages)
        self._answered = False
        return room

    def _bridge(self, new: Sequence[Message]) -> Sequence[int] | None:
        history = self._messages[: self._rendered]
        return self._policy.renderer.bridge(history, new, self.tools, closed=self._closed)

    def _request(self, number: int, *, room: int) -> GenerateRequest:
        policy, sampling = self._policy, self._policy.job.sampling
        return GenerateRequest(
            prompt_ids=self.ledger.current_ids(),
            max_tokens=room,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            seed=policy.job.turn_seed(number),
            stop_token_ids=policy.renderer.stop_token_ids,
            request_id=f"{policy.job.job_id}-{policy.job.attempt}-{number}",
        )

    def _room(self, sent: int) -> int:
        policy, limits = self._policy, self._policy.limits
        rooms: list[tuple[int, str]] = []
        if limits.max_output_tokens is not None or limits.max_model_len is None:
            rooms.append((limits.max_output_tokens or TURN_TOKENS, "tokens"))
        if limits.max_total_tokens is not None:
            rooms.append((limits.max_total_tokens - policy.sampled_tokens, "tokens"))
        if limits.max_model_len is not None:
            rooms.append((limits.max_model_len - sent, "context"))
        room, reason = min(rooms)
        if room < 1:
            raise policy.reach(reason)
        return room

    def _record(self, number: int, sampled: Sampled, *, seed: int | None) -> Turn:
        target, reply = sampled.target, sampled.reply
        self.ledger.logprobs_mode = reply.logprobs_mode
        start = 0
        for part in _parts(reply, target.version, now=self._policy.lease.target.version):
            end = start + part.length
            self.ledger.append_sampled(
                reply.token_ids[start:end],
                reply.logprobs[start:end],
                message_index=len(self._messages),
                finish_reason=reply.finish_reason,
                version=part.version,
                backend=target.address,
                request_id=reply.request_id,
                seconds=sampled.seconds,
                seed=seed,
                mixed=part.mixed,
                note=reply.note,
            )
            start = end
        return self._turn(number, sampled, part.version)

    def _turn(self, number: int, sampled: Sampled, version: int | None) -> Turn:
        policy, reply = self._policy, sampled.reply
        self._closed = policy.renderer.is_closed(reply.token_ids)
        self._answered = True
        self.finish_reason = reply.finish_reason
        text = policy.renderer.turn_text(reply.token_ids)
        turn = Turn(number, text, reply.finish_reason, len(reply.token_ids), version)
        policy.turns += 1
        self._messages.append({"role": "assistant", "content": text})
        self._rendered = len(self._messages)
        policy.listener(turn, sampled)
        return turn


class _Part(NamedTuple):
    """Sampled tokens of one version; `mixed`: more than one may have sampled them, and nobody knows which."""

    length: int
    version: int | None
    mixed: bool = False


def _parts(reply: Generation, dispatched: int | None, *, now: int | None) -> Sequence[_Part]:
    """Which versions sampled a reply: the wire's own spans where the weights changed, else the one at dispatch."""
    spans, count = reply.version_spans or (), len(reply.token_ids)
    labels = {version for _, version in spans}
    if len(labels) > 1 and min(labels) >= 0:
        return [_Part(length, version) for length, version in spans]
    if now != dispatched and labels and labels <= {dispatched, now}:
        return [_Part(count, labels.pop())]
    return [_Part(count, dispatched, mixed=now != dispatched or len(labels) > 1)]


def _told(reply: Generation, faults: Sequence[BackendUnreachable]) -> Generation:
    """The reply, saying which backends gave none before."""
    if not faults:
        return reply
    said = "; ".join(str(fault) for fault in faults)
    note = said if reply.note is None else f"{said}; {reply.note}"
    return replace(reply, tries=reply.tries + sum(fault.tries for fault in faults), note=note)


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json_copy(dict(message))
    except (TypeError, ValueError) as error:
        raise PluginFault(f"a message must be a JSON object ({error}): {message!r:.200}", code="bad_message") from error
    return plain
