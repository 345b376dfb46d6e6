"""The tools that need no sandbox: think, for planning aloud, and finish, which ends the task."""

from raas_sdk.workspace import Tool

__all__ = ["FINISH", "THINK", "THINK_REPLY"]

FINISH = Tool(
    "finish",
    "End the task and hand in the final answer. Nothing can be done after it.",
    {
        "type": "object",
        "properties": {"message": {"type": "string", "description": "The final answer."}},
        "required": ["message"],
    },
)
THINK = Tool(
    "think",
    "Write down a thought or a plan. It changes nothing and gives no new information.",
    {
        "type": "object",
        "properties": {"thought": {"type": "string", "description": "What you are thinking."}},
        "required": ["thought"],
    },
)
THINK_REPLY = "Your thought is noted."
