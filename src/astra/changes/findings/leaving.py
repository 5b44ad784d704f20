r"""Ways out of a test that leave its checks behind, or that make nothing of their failures.

>>> may_leave(ast.parse("if busy:\n    return").body[0]), may_leave(ast.parse("x = 1").body[0])
(True, False)
"""

import ast

from astra.changes.findings.python_names import last_name

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SWALLOWING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex", "warns"})
_OF_CHECKS = frozenset({"AssertionError", "Exception", "BaseException", "Failed"})
_HARMLESS = frozenset({"subTest", "nullcontext", "catch_warnings", "closing", "ExitStack"})


def may_leave(statement: ast.stmt) -> bool:
    """Tell whether a statement can end the function, or the turn of a loop, before what follows."""
    return _has_way_out(statement, in_loop=False)


def may_never_run(statement: ast.stmt) -> bool:
    """Tell whether the body of a branch or a loop is there and may well not run at all."""
    if isinstance(statement, ast.For | ast.AsyncFor):
        items = statement.iter
        return isinstance(items, ast.Tuple | ast.List | ast.Set) and not items.elts
    return isinstance(statement, ast.If | ast.While)


def name_guard(context: ast.expr) -> str:
    """Name what a `with` does to the checks in it: nothing, or a reason to look."""
    name = last_name(context)
    if name in _SWALLOWING:
        return name if name == "suppress" or _takes_checks(context) else ""
    return "" if name in _HARMLESS else f"with {name or 'something'}"


def _takes_checks(context: ast.expr) -> bool:
    """Tell whether a failed check is itself the error that is waited for."""
    exception = context.args[0] if isinstance(context, ast.Call) and context.args else context
    several = exception.elts if isinstance(exception, ast.Tuple) else [exception]
    return any(last_name(one) in _OF_CHECKS for one in several)


def _has_way_out(node: ast.AST, *, in_loop: bool) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, _INNER):
        return False
    inside = in_loop or isinstance(node, _LOOPS)
    return any(_has_way_out(child, in_loop=inside) for child in ast.iter_child_nodes(node))
