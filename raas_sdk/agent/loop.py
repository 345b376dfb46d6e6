"""The turn loop: ask, parse, act, observe, until the policy finishes, hits a limit or goes in circles."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from raas_sdk.agent.reply import CallError, ParsedReply, ToolCall
from raas_sdk.agent.stuck import Action, LoopDetector
from raas_sdk.agent.tool_calls import parse_tool_calls
from raas_sdk.agent.tools import FINISH, THINK, THINK_REPLY
from raas_sdk.errors import LimitReached
from raas_sdk.policy import Conversation, Message, Policy
from raas_sdk.workspace import Observation, Tool, Workspace

__all__ = ["NUDGE", "Conversed", "converse"]

NUDGE = (
    "Please go on with the task in the way you think best. Nobody will answer questions. "
    "When you are done, call the finish tool with your answer."
)
AFTER_FINISH = "not run: the task was finished by an earlier call in the same reply"


@dataclass(frozen=True, slots=True)
class Conversed:
    """How a conversation went.

    `stop_reason` is finished, no_tool_call, length, loop_detected or limit_<turns | tokens | context | time>.
    `finish_message` is what was handed to finish, None if it was not called. `last_text` is the content of the
    last reply; `tool_calls` counts calls that were run, think and finish included.
    """

    stop_reason: str
    finish_message: str | None
    last_text: str
    tool_calls: int
    messages: tuple[Message, ...]


async def converse(  # noqa: PLR0913  (the knobs of the loop are independent of each other)
    policy: Policy,
    workspace: Workspace,
    messages: Sequence[Message],
    tools: Sequence[Tool] | None = None,
    *,
    tool_timeout_seconds: float = 30.0,
    format: str | None = None,
    nudge: str = NUDGE,
    max_repeats: int = 3,
    on_tool_call: Callable[[ToolCall, Observation], None] | None = None,
) -> Conversed:
    """Let the policy work on the chat with tools until it is done; a limit ends it normally.

    `tools` are those offered (default: the workspace's, think and finish). Bad calls and failing tools are
    shown to the policy; a broken sandbox or backend raises. After `max_repeats` replies in a row without a call
    the conversation ends; before that the policy is told `nudge`. `on_tool_call` hears of every call that ran.
    """
    offered = (*workspace.tools, THINK, FINISH) if tools is None else tuple(tools)
    loop = TurnLoop(
        conversation=policy.conversation(messages, offered),
        workspace=workspace,
        tools=offered,
        format=format or policy.tool_format,
        nudge=nudge,
        max_repeats=max_repeats,
        tool_timeout_seconds=tool_timeout_seconds,
        on_tool_call=on_tool_call,
    )
    return await loop.run()


@dataclass(slots=True)
class TurnLoop:
    """One conversation on its way."""

    conversation: Conversation
    workspace: Workspace
    tools: Sequence[Tool]
    format: str
    nudge: str
    max_repeats: int
    tool_timeout_seconds: float
    on_tool_call: Callable[[ToolCall, Observation], None] | None
    detector: LoopDetector = field(default_factory=LoopDetector)
    idle_replies: int = 0
    tool_calls: int = 0
    last_text: str = ""
    finish_message: str | None = None

    async def run(self) -> Conversed:
        """Take turns until one of them gives a reason to stop."""
        stop: str | None = None
        while stop is None:
            try:
                stop = await self._turn()
            except LimitReached as limit:
                stop = limit.code
        messages = tuple(self.conversation.messages)
        return Conversed(stop, self.finish_message, self.last_text, self.tool_calls, messages)

    async def _turn(self) -> str | None:
        turn = await self.conversation.sample()
        reply = parse_tool_calls(
            turn.text,
            self.tools,
            format=self.format,
            finish_reason=turn.finish_reason,
            id_prefix=f"call_{turn.index}",
        )
        self.last_text = reply.content
        content = turn.text if reply.errors else reply.readable
        self.conversation.annotate(content=content, tool_calls=[_as_data(c) for c in reply.calls])
        if reply.truncated and not reply.calls:
            return "length"
        if not reply.parts:
            return self._idle(reply)
        self.idle_replies = 0
        return await self._act(reply)

    def _idle(self, reply: ParsedReply) -> str | None:
        self.idle_replies += 1
        self.detector.saw_message(reply.content)
        if self.detector.looping:
            return "loop_detected"
        if self.idle_replies >= self.max_repeats:
            return "no_tool_call"
        self.conversation.append({"role": "user", "content": self.nudge})
        return None

    async def _act(self, reply: ParsedReply) -> str | None:
        finished = False
        for part in reply.parts:
            if isinstance(part, CallError):
                self._refuse(part)
            elif finished:
                self._answer(part.name, AFTER_FINISH, call_id=part.id)
            elif part.name == FINISH.name:
                finished = self._finish(part)
            else:
                await self._run(part)
        if finished:
            return "finished"
        return "loop_detected" if self.detector.looping else None

    def _finish(self, call: ToolCall) -> bool:
        message = call.arguments.get("message")
        self.finish_message = "" if message is None else str(message)
        self._announce(call, Observation(""))
        return True

    def _refuse(self, error: CallError) -> None:
        self._answer(error.name, error.text, call_id=None)
        self.detector.saw_action(Action(error.text, error.text, error=True))

    async def _run(self, call: ToolCall) -> None:
        if call.name == THINK.name:
            observation = Observation(THINK_REPLY)
        else:
            timeout = self.tool_timeout_seconds
            observation = await self.workspace.call(call.name, call.arguments, timeout=timeout)
        self._answer(call.name, observation.text, call_id=call.id)
        shown = json.dumps([call.name, call.arguments], sort_keys=True)
        self.detector.saw_action(Action(shown, observation.text, observation.error))
        self._announce(call, observation)

    def _answer(self, name: str | None, text: str, *, call_id: str | None) -> None:
        message = {"role": "tool", "name": name, "tool_call_id": call_id, "content": text}
        self.conversation.append({key: value for key, value in message.items() if value is not None})

    def _announce(self, call: ToolCall, observation: Observation) -> None:
        self.tool_calls += 1
        if self.on_tool_call is not None:
            self.on_tool_call(call, observation)


def _as_data(call: ToolCall) -> dict[str, object]:
    return {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
