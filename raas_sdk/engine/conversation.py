"""The policy as plugins get it: conversations over token ids, sampled from the leased backend."""

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from raas_sdk.backends.client import BackendClient
from raas_sdk.backends.generation import GenerateRequest, Generation
from raas_sdk.backends.target import BackendTarget
from raas_sdk.engine.leases import HeldLease
from raas_sdk.engine.owned_workspace import SoftEnd
from raas_sdk.errors import LimitReached, PluginFault
from raas_sdk.job import Job
from raas_sdk.limits import Limits
from raas_sdk.policy import Message, Turn
from raas_sdk.tokens import Ledger, Renderer
from raas_sdk.workspace import Tool

__all__ = ["LeasedConversation", "LeasedPolicy"]

TurnListener = Callable[[Turn], None]

TURN_TOKENS = 2048
"""Tokens of one reply when the job names neither max_output_tokens nor max_model_len."""


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
    ) -> None:
        self.job = job
        self.lease = lease
        self.client = client
        self.renderer = renderer
        self.soft_end = soft_end
        self.listener = listener
        self.conversations: list[LeasedConversation] = []
        self.turns = 0
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
        """Start a chat."""
        conversation = LeasedConversation(self, messages, tools)
        self.conversations.append(conversation)
        return conversation

    def reach(self, reason: str) -> LimitReached:
        """Note the first limit that was reached; return the exception to raise."""
        self.limit_reason = self.limit_reason or reason
        return LimitReached(reason)


class LeasedConversation:
    """One chat; its ledger holds every token that was sent and sampled."""

    def __init__(self, policy: LeasedPolicy, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        if not messages:
            raise PluginFault("a conversation needs at least one message", code="empty_conversation")
        self._policy = policy
        self._messages: list[Message] = [dict(message) for message in messages]
        self.tools = tuple(tools)
        self.ledger = Ledger(vocab_size=policy.renderer.vocab_size)
        self._rendered = 0
        self._closed = True
        self.finish_reason: str | None = None

    @property
    def messages(self) -> Sequence[Message]:
        """All messages so far, the sampled ones included."""
        return tuple(self._messages)

    def append(self, *messages: Message) -> None:
        """Add what the policy is told next."""
        self._messages.extend(dict(message) for message in messages)

    def annotate(self, *, content: str, tool_calls: Sequence[Mapping[str, Any]]) -> None:
        """Say how the last reply was parsed."""
        last = self._messages[-1]
        if last.get("role") != "assistant":
            raise PluginFault("annotate must follow sample(), before append()", code="annotate_order")
        self._messages[-1] = {**last, "content": content, "tool_calls": [dict(call) for call in tool_calls]}

    async def sample(self) -> Turn:
        """Sample the next reply on the leased backend."""
        policy = self._policy
        self._check_turns()
        self._render_pending()
        request = self._request()
        began = time.monotonic()
        target = policy.lease.target
        try:
            reply = await policy.soft_end.bounded(policy.client.generate(target, request))
        except LimitReached as limit:
            raise policy.reach(limit.reason) from limit
        finally:
            policy.model_seconds += time.monotonic() - began
        return self._record(reply, target, seconds=time.monotonic() - began, seed=request.seed)

    def _check_turns(self) -> None:
        policy, limits = self._policy, self._policy.limits
        if policy.soft_end.reason is not None:
            raise policy.reach(policy.soft_end.reason)
        if policy.turns >= limits.max_turns:
            raise policy.reach("turns")
        if limits.max_total_tokens is not None and policy.sampled_tokens >= limits.max_total_tokens:
            raise policy.reach("tokens")

    def _render_pending(self) -> None:
        """Put the messages since the last turn into the ledger, or start a new segment where no bridge holds."""
        new = self._messages[self._rendered :]
        if not new and self._rendered:
            raise PluginFault("append a message before sampling again", code="nothing_new")
        renderer = self._policy.renderer
        if self._rendered:
            history = self._messages[: self._rendered]
            bridge = renderer.bridge(history, new, self.tools, closed=self._closed)
            if bridge is not None:
                self.ledger.append_context(bridge, message_index=self._rendered, role=str(new[0].get("role")))
                self._rendered = len(self._messages)
                return
        self.ledger.start_segment(renderer.prompt(self._messages, self.tools), messages=len(self._messages))
        self._rendered = len(self._messages)

    def _request(self) -> GenerateRequest:
        policy, sampling = self._policy, self._policy.job.sampling
        return GenerateRequest(
            prompt_ids=self.ledger.current_ids(),
            max_tokens=self._room(),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            seed=policy.job.turn_seed(policy.turns),
            stop_token_ids=policy.renderer.stop_token_ids,
            request_id=f"{policy.job.job_id}-{policy.job.attempt}-{policy.turns}",
        )

    def _room(self) -> int:
        policy, limits = self._policy, self._policy.limits
        rooms: list[tuple[int, str]] = []
        if limits.max_output_tokens is not None or limits.max_model_len is None:
            rooms.append((limits.max_output_tokens or TURN_TOKENS, "tokens"))
        if limits.max_total_tokens is not None:
            rooms.append((limits.max_total_tokens - policy.sampled_tokens, "tokens"))
        if limits.max_model_len is not None:
            rooms.append((limits.max_model_len - len(self.ledger), "context"))
        room, reason = min(rooms)
        if room < 1:
            raise policy.reach(reason)
        return room

    def _record(self, reply: Generation, target: BackendTarget, *, seconds: float, seed: int | None) -> Turn:
        versions = {version for _, version in reply.version_spans or ()}
        swapped = not versions and self._policy.lease.target.version != target.version
        self.ledger.logprobs_mode = reply.logprobs_mode
        self.ledger.append_sampled(
            reply.token_ids,
            reply.logprobs,
            message_index=len(self._messages),
            finish_reason=reply.finish_reason,
            version=target.version,
            backend=target.address,
            request_id=reply.request_id,
            seconds=seconds,
            seed=seed,
            mixed=swapped or len(versions) > 1,
            note=reply.note,
        )
        return self._turn(reply.token_ids, reply.finish_reason, target.version)

    def _turn(self, ids: "array[int]", finish_reason: str, version: int | None) -> Turn:
        policy = self._policy
        self._closed = policy.renderer.is_closed(ids)
        self.finish_reason = finish_reason
        text = policy.renderer.turn_text(ids)
        turn = Turn(policy.turns, text, finish_reason, len(ids), version)
        policy.turns += 1
        self._messages.append({"role": "assistant", "content": text})
        self._rendered = len(self._messages)
        policy.listener(turn)
        return turn
