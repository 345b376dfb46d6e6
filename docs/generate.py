"""Write docs/reference from the code, so that the two cannot differ. With --check: only say what is out of date."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from raas_sdk.hooks import hookspecs
from raas_sdk.limits import Limits
from raas_sdk.settings import Settings

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `make docs` from the code; edit the docstrings there. -->"


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check compare them; 1 if one is out of date."""
    pages = {"hooks.md": hooks_page(), "settings.md": settings_page()}
    stale = [name for name, text in pages.items() if _read(REFERENCE / name) != text]
    if "--check" in arguments:
        for name in stale:
            print(f"docs/reference/{name} is out of date; run: make docs")
        return 1 if stale else 0
    for name in stale:
        (REFERENCE / name).write_text(pages[name], encoding="utf-8")
        print(f"docs/reference/{name} written")
    return 0


def hooks_page() -> str:
    """Every hook: its signature and its docstring."""
    parts = ["# Hooks", NOTE, inspect.cleandoc(hookspecs.__doc__ or "")]
    for name, definition in _hook_definitions():
        parts += [f"## {name}", f"```python\n{definition}\n```", *_paragraphs(getattr(hookspecs, name))]
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """Every setting and every limit: type, default, meaning."""
    parts = ["# Settings", NOTE, ORDER, _settings_table(), "## Limits", LIMITS, _limits_table()]
    return "\n\n".join(parts) + "\n"


ORDER = """Each is a flag (`--run-workers 4`, where the command takes it), a variable (`RAAS_RUN_WORKERS=4`) and a key
in a file (`run_workers = 4`). A flag wins over a variable, a variable over `./raas.toml`, that over `raas/raas.toml` in
the XDG configuration folder. A list is written with commas in a variable, as an array in a file. An unknown key in a
file is refused, with its name."""

LIMITS = """Budgets of one job, under `[limits]` in the file or among a job's sampling parameters. Seconds count work
only: waiting for a permit or for an inference server never does."""


def _hook_definitions() -> Iterator[tuple[str, str]]:
    for node in ast.parse(inspect.getsource(hookspecs)).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("raas_"):
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            # A quoted annotation is a matter of import order, not of the contract.
            signature = f"def {node.name}({ast.unparse(node.args)}){returns}"
            yield node.name, signature.replace("'Host'", "Host")


def _paragraphs(hook: object) -> list[str]:
    return [textwrap.dedent(part) for part in inspect.cleandoc(hook.__doc__ or "").split("\n\n")]


def _settings_table() -> str:
    rows = ["| setting | type | default | what it does |", "|---|---|---|---|"]
    for name, item in Settings.model_fields.items():
        default = item.get_default(call_default_factory=True)
        kind = _type_text(item.annotation)
        rows.append(f"| `{name}` | `{kind}` | `{_shown(default)}` | {item.description} |")
    return "\n".join(rows)


def _limits_table() -> str:
    rows = ["| limit | default |", "|---|---|"]
    defaults = Limits()
    rows += [f"| `{name}` | `{_shown(getattr(defaults, name))}` |" for name in Limits.__dataclass_fields__]
    return "\n".join(rows)


def _type_text(annotation: object) -> str:
    text = (
        annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else str(annotation)
    )
    for prefix in ("typing.", "collections.abc."):
        text = text.replace(prefix, "")
    return text.replace("|", "\\|")


def _shown(value: object) -> str:
    return "none" if value is None else str(list(value) if isinstance(value, tuple) else value)


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
