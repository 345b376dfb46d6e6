"""The turn loop that plugins call from run: tool calls are parsed and run here, and nowhere else."""

from raas_sdk.agent.describe import describe_tools
from raas_sdk.agent.loop import NUDGE, Conversed, converse
from raas_sdk.agent.reply import CallError, ParsedReply, ToolCall
from raas_sdk.agent.tool_calls import parse_tool_calls
from raas_sdk.agent.tools import FINISH, THINK

__all__ = [
    "FINISH",
    "NUDGE",
    "THINK",
    "CallError",
    "Conversed",
    "ParsedReply",
    "ToolCall",
    "converse",
    "describe_tools",
    "parse_tool_calls",
]
