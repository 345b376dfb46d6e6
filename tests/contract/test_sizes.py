"""Ceilings, not aims: functions aim under 10 lines, modules near 100."""

import ast

FUNCTION_LINES = 40
MODULE_LINES = 400
POSITIONAL_PARAMETERS = 4

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_no_function_is_longer_than_its_ceiling(modules, refuse):
    refuse(
        f"{module.at(node)}: {node.name} has {_lines(node)} lines, the ceiling is {FUNCTION_LINES}"
        for module in modules
        for node in module.walk(*FUNCTIONS)
        if _lines(node) > FUNCTION_LINES
    )


def test_no_module_is_longer_than_its_ceiling(modules, refuse):
    refuse(
        f"{module.at(1)}: {module.lines} lines, the ceiling is {MODULE_LINES}; find the second noun"
        for module in modules
        if module.lines > MODULE_LINES
    )


def test_no_function_takes_many_arguments_by_place(modules, refuse):
    refuse(
        f"{module.at(node)}: {node.name} takes {_positional(node)} arguments by place, not {POSITIONAL_PARAMETERS}"
        for module in modules
        for node in module.walk(*FUNCTIONS)
        if _positional(node) > POSITIONAL_PARAMETERS
    )


def _lines(node):
    return node.end_lineno - node.lineno + 1


def _positional(node):
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(names[1:] if names[:1] in (["self"], ["cls"]) else names)
