"""Public means in `__all__`: what a module lets others use is listed there, sorted, and nothing else crosses."""

import ast
import importlib

import pytest

FORBIDDEN_NAMES = {"base", "common", "helper", "helpers", "misc", "models", "types", "util", "utils"}

# Programs: run, never imported.
PROGRAMS = {"raas_sdk.__main__"}


def test_every_module_says_what_lives_in_it(modules, refuse):
    refuse(f"{module.at(1)}: no docstring" for module in modules if not ast.get_docstring(module.tree))


def test_every_module_lists_its_public_names(modules, refuse):
    refuse(
        f"{module.at(1)}: no __all__"
        for module in modules
        if not module.exported and module.tree.body[1:] and module.name not in PROGRAMS
    )


def test_listed_names_exist_and_stand_once(modules, refuse):
    for module in modules:
        defined = set(_defined(module)) | {each.name for each in module.imports}
        refuse(
            f"{module.at(1)}: __all__ names {name!r}, which is not there"
            for name in module.exported
            if name not in defined
        )
        assert len(set(module.exported)) == len(module.exported), f"{module.at(1)}: a name stands twice in __all__"


def test_what_one_module_takes_from_another_is_public_there(modules, by_name, refuse):
    faults = []
    for module in modules:
        for each in module.imports:
            source = by_name.get(each.module)
            if source is None or not each.name or f"{each.module}.{each.name}" in by_name:
                continue
            if each.name not in source.exported:
                faults.append(f"{module.at(each.line)}: {each.name!r} is not in the __all__ of {each.module}")
    refuse(faults)


def test_a_package_offers_exactly_what_it_gathers(modules, refuse):
    for module in modules:
        if module.path.name != "__init__.py" or not module.exported:
            continue
        gathered = {each.name for each in module.imports if each.module.startswith(module.package)}
        gathered -= {node.id for node in module.walk(ast.Name)}
        gathered |= {name for name in _defined(module) if not name.startswith("_")}
        refuse(f"{module.at(1)}: {name!r} is imported, but not in __all__" for name in gathered - set(module.exported))


def test_public_definitions_say_what_they_do(modules, refuse):
    refuse(
        f"{module.at(node)}: {node.name} is public and has no docstring"
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name in module.exported
        and not ast.get_docstring(node)
    )


@pytest.mark.parametrize("package", ["raas_sdk", "raas_runtime", "raas_math"])
def test_a_star_import_gives_the_public_names(package):
    module = importlib.import_module(package)
    given = {name: getattr(module, name) for name in module.__all__}
    assert all(value.__module__.startswith(package) for value in given.values() if isinstance(value, type))


def test_no_module_has_a_name_that_could_hold_anything(modules, refuse):
    refuse(
        f"{module.at(1)}: {module.path.stem!r} is no noun of this project; what has no room has no owner"
        for module in modules
        if module.path.stem in FORBIDDEN_NAMES
    )


def _defined(module):
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            names = {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            yield from names - {"__all__"}
