"""The source of the whole house, parsed once, for tests that read it."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"raas_sdk": ROOT, "raas_runtime": ROOT / "runtime", "raas_math": ROOT / "plugins" / "math"}


@dataclass(frozen=True)
class Import:
    """One imported name: `from module import name`, or `import module` with an empty name."""

    module: str
    name: str
    line: int


@dataclass(frozen=True)
class Module:
    """A source file. `room` is its place in its package: a folder (engine) or a top-level module (job)."""

    path: Path
    name: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    lines: int

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def room(self) -> str:
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else "__init__"

    def at(self, node: ast.AST | int) -> str:
        """file:line of a node, to begin a fault with."""
        return f"{self.path.relative_to(ROOT)}:{node if isinstance(node, int) else getattr(node, 'lineno', 1)}"

    def walk(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """All nodes of these kinds."""
        return (node for node in self.nodes if isinstance(node, kinds))

    @property
    def exported(self) -> list[str]:
        """What `__all__` says."""
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                return list(ast.literal_eval(node.value))
        return []

    @property
    def imports(self) -> list[Import]:
        """Every import, also those inside functions and for type checking only."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [Import(alias.name, "", node.lineno) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                module = self._absolute(node)
                found += [Import(module, alias.name, node.lineno) for alias in node.names]
        return found

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        parts = parts if self.path.name == "__init__.py" else parts[:-1]
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, node.module] if node.module else parts)


@pytest.fixture(scope="session")
def refuse() -> Callable[[Iterable[str]], None]:
    """Fail with one line for each fault, and without a traceback, which would only show the rule's own code."""

    def refuse(faults: Iterable[str]) -> None:
        found = sorted(set(faults))
        if found:
            pytest.fail("\n".join(found), pytrace=False)

    return refuse


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> list[Module]:
    return [_parsed(path, base) for name, base in PACKAGES.items() for path in sorted((base / name).rglob("*.py"))]


@pytest.fixture(scope="session")
def sdk(modules: list[Module]) -> list[Module]:
    return [module for module in modules if module.package == "raas_sdk"]


@pytest.fixture(scope="session")
def by_name(modules: list[Module]) -> dict[str, Module]:
    return {module.name: module for module in modules}


def _parsed(path: Path, base: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    name = ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(text, filename=str(path))
    return Module(path, name, tree, tuple(ast.walk(tree)), text.count("\n"))
