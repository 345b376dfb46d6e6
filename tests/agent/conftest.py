import pytest

from raas_sdk.workspace import Tool

TEXT, WHOLE, NUMBER, YES_NO = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))


def tool(name, required=(), **properties):
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(required)})


@pytest.fixture(scope="session")
def tools():
    """A shell, an editor, a kernel, a search and a finish that takes nothing."""
    choices = {"type": "string", "enum": ["view", "create", "str_replace", "insert", "undo_edit"]}
    lines = {"type": "array", "items": WHOLE}
    edit = {"path": TEXT, "old_str": TEXT, "new_str": TEXT, "insert_line": WHOLE, "view_range": lines}
    return (
        tool("execute_bash", ["command"], command=TEXT, timeout=NUMBER),
        tool("str_replace_editor", ["command", "path"], command=choices, **edit),
        tool("ipython", ["code"], code=TEXT),
        tool("search", ["query"], query=TEXT, max_results=WHOLE, deep=YES_NO),
        tool("finish"),
    )
