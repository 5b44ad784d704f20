"""Assertions that hold whatever the code under test does.

>>> texts = ("True", "x or 1", "(x, 'why')", "x")
>>> [is_certain(ast.parse(text, mode="eval").body) for text in texts]
[True, True, True, False]
"""

import ast

from astra.changes.findings.python_names import last_name

_SAME_HOLDS = (ast.Eq, ast.Is, ast.LtE, ast.GtE)
_PLAIN = frozenset(
    {"abs", "all", "any", "bool", "callable", "dict", "float", "int", "isinstance", "len", "list"}
    | {"max", "min", "print", "range", "repr", "set", "sorted", "str", "sum", "tuple", "type"}
)
_OPEN_ENDED = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_ALWAYS_TRUE = (ast.Lambda, ast.GeneratorExp)


def is_certain(test: ast.expr) -> bool:
    if isinstance(test, ast.Compare | ast.Call) and _asks_nothing(test):
        return True
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp):
        some = any if isinstance(test.op, ast.Or) else all
        return some(is_certain(value) for value in test.values)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not) and _is_empty(test.operand)
    if isinstance(test, ast.Compare):
        return _is_certain_comparison(test)
    return isinstance(test, _ALWAYS_TRUE) or _is_full(test)


def is_certain_call(call: ast.Call) -> bool:
    name, arguments = last_name(call), call.args
    if name in {"assertTrue", "assert_"} and arguments:
        return is_certain(arguments[0])
    if name == "assertFalse" and arguments:
        return _is_empty(arguments[0])
    if name in {"assertEqual", "assertIs", "assertAlmostEqual"} and len(arguments) > 1:
        return _is_same(arguments[0], arguments[1])
    return name == "assertIsNotNone" and bool(arguments) and isinstance(arguments[0], ast.Constant)


def _asks_nothing(test: ast.expr) -> bool:
    """Tell whether only constants and Python's own functions take part, so no code is tested."""
    names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
    return all(node.id in _PLAIN for node in names) and not any(
        isinstance(node, _OPEN_ENDED) for node in ast.walk(test)
    )


def _is_certain_comparison(test: ast.Compare) -> bool:
    if len(test.ops) != 1:
        return False
    operator, right = test.ops[0], test.comparators[0]
    if isinstance(operator, _SAME_HOLDS) and _is_same(test.left, right):
        return True
    is_length = isinstance(test.left, ast.Call) and last_name(test.left) == "len"
    return is_length and isinstance(operator, ast.GtE) and _is_zero(right)


def _is_same(left: ast.expr, right: ast.expr) -> bool:
    """Tell whether both sides are the same words, calls aside: those may answer differently."""
    calls = any(isinstance(node, ast.Call) for node in ast.walk(left))
    return not calls and ast.dump(left) == ast.dump(right)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return not node.value
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and not node.elts


def _is_full(node: ast.expr) -> bool:
    if isinstance(node, ast.Dict):
        return bool(node.keys)
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and bool(node.elts)
