r"""The checks of one Python test: assertions, expected errors, and what stands around them.

Each check knows how much it demands (`strength`), so that a change from one to another can be
called a loosening. The scale only has to order what people write instead of each other:
equality is 5, nearness 4, order 3, membership 2, truth 1.

>>> function = ast.parse("def f():\n assert x == 1\n assert x").body[0]
>>> [check.strength for check in list_checks(function)]
[5, 1]
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from astra.changes.findings import certainties, leaving
from astra.changes.findings.python_names import last_name

Function = ast.FunctionDef | ast.AsyncFunctionDef
Names = frozenset[str]
_CHECKING = re.compile(r"(?:assert|check|verify|expect|should|ensure|require)[A-Za-z0-9_]*|fail")
_RAISING = frozenset(
    {"raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "assertWarnsRegex"}
)
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EXACT, _NEAR, _ORDER, _LOOSE, _TRUTH = 5, 4, 3, 2, 1
_COMPARISONS: dict[type[ast.cmpop], int] = {
    ast.Eq: _EXACT,
    ast.Is: _EXACT,
    **dict.fromkeys((ast.Lt, ast.LtE, ast.Gt, ast.GtE), _ORDER),
}
_METHODS = {
    **dict.fromkeys(("assertAlmostEqual", "assert_called_with", "assert_allclose"), _NEAR),
    **dict.fromkeys(("assertGreater", "assertGreaterEqual", "assertLess", "assertLessEqual"), 3),
    **dict.fromkeys(("assertIn", "assertNotIn", "assertNotEqual", "assertIsNot"), _LOOSE),
    **dict.fromkeys(("assertIsInstance", "assertIsNotNone", "assertRegex"), _LOOSE),
    **dict.fromkeys(("assert_called", "assert_any_call", "assert_called_once"), _LOOSE),
    **dict.fromkeys(("assert_equal", "assert_array_equal", "assert_called_once_with"), _EXACT),
}
_MORE_THAN_TRUTH = {"all": _LOOSE, "isclose": _NEAR, "allclose": _NEAR}
_WIDE = frozenset({"Exception", "BaseException", "Warning"})
_NAME = re.compile(r"Name\(id='([^']*)'")


@dataclass(frozen=True, kw_only=True)
class Check:
    text: str
    """How it is written, layout aside."""
    shape: str
    """The same with the function's own variables numbered, so that renaming one changes nothing."""
    line: int
    strength: int
    parts: int = 1
    tolerance: float = 0.0
    is_certain: bool = False
    guards: tuple[str, ...] = ()


def list_checks(function: Function, helpers: Names = frozenset()) -> list[Check]:
    """List the checks of a function; a call of one of the `helpers` is a check, too."""
    numbers = _numbered_locals(function)
    raw_checks = list(_in_body(function.body, (), helpers))
    return [replace(check, shape=_replace_local_names(check.text, numbers)) for check in raw_checks]


def shape_of(function: Function) -> str:
    """Spell a function's body without layout, docstring and the names of its own variables."""
    body = without_docstring(function.body)
    return _replace_local_names(" ".join(map(ast.dump, body)), _numbered_locals(function))


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_text = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def _in_body(body: list[ast.stmt], guards: tuple[str, ...], helpers: Names) -> Iterator[Check]:
    for statement in body:
        yield from _in_statement(statement, guards, helpers)
        if isinstance(statement, _ENDING):
            guards = (*guards, "unreachable")
        elif leaving.may_leave(statement):
            guards = (*guards, "early return")


def _in_statement(statement: ast.stmt, guards: tuple[str, ...], helpers: Names) -> Iterator[Check]:
    if isinstance(statement, ast.If) and _is_assertion_raise(statement.body[0]):
        yield _check_from_assert(ast.UnaryOp(ast.Not(), statement.test), statement, guards)
    if isinstance(statement, ast.Assert):
        yield _check_from_assert(statement.test, statement, guards)
    elif isinstance(statement, ast.Expr):
        call = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        if isinstance(call, ast.Call) and (_is_check(call) or last_name(call) in helpers):
            yield _check_from_call(call, statement, guards)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield from _in_with(statement, guards, helpers)
    else:
        for name, body in _list_blocks(statement):
            yield from _in_body(body, (*guards, name), helpers)


def _in_with(
    statement: ast.With | ast.AsyncWith, guards: tuple[str, ...], helpers: Names
) -> Iterator[Check]:
    calls = [item.context_expr for item in statement.items]
    for call in calls:
        if isinstance(call, ast.Call) and last_name(call) in _RAISING:
            yield _check_from_call(call, statement, guards)
    around = tuple(leaving.name_guard(call) for call in calls)
    yield from _in_body(statement.body, (*guards, *around), helpers)


def _list_blocks(statement: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Name the blocks of a statement that may not run, or whose failures may not count."""
    if isinstance(statement, ast.Try | ast.TryStar):
        yield from (("except", clause.body) for clause in statement.handlers)
        hides = statement.handlers or any(map(leaving.may_leave, statement.finalbody))
        yield ("try" if hides else "", statement.body)
        yield "", [*statement.orelse, *statement.finalbody]
    elif isinstance(statement, ast.If | ast.For | ast.AsyncFor | ast.While):
        name = "if" if leaving.may_never_run(statement) else "loop"
        yield name, statement.body
        yield name, statement.orelse
    elif isinstance(statement, ast.Match):
        yield from (("if", case.body) for case in statement.cases)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield "inner function", statement.body


def _is_assertion_raise(statement: ast.stmt) -> bool:
    """Tell whether a statement says by itself that a check failed."""
    error = statement.exc if isinstance(statement, ast.Raise) else None
    return error is not None and last_name(error) == "AssertionError"


def _is_check(call: ast.Call) -> bool:
    name = last_name(call)
    return name in _RAISING or _CHECKING.fullmatch(name) is not None


def _check_from_assert(test: ast.expr, where: ast.stmt, guards: tuple[str, ...]) -> Check:
    text = ast.dump(test)
    return Check(
        text=text,
        shape=text,
        line=where.lineno,
        strength=_expression_strength(test),
        parts=len(test.values) if isinstance(test, ast.BoolOp) and _is_and(test) else 1,
        tolerance=_measure_tolerance(test),
        is_certain=certainties.is_certain(test),
        guards=tuple(filter(None, guards)),
    )


def _check_from_call(call: ast.Call, where: ast.stmt, guards: tuple[str, ...]) -> Check:
    text = ast.dump(call)
    return Check(
        text=text,
        shape=text,
        line=where.lineno,
        strength=_call_strength(call),
        tolerance=_measure_tolerance(call),
        is_certain=certainties.is_certain_call(call),
        guards=tuple(filter(None, guards)),
    )


def _expression_strength(test: ast.expr) -> int:
    if isinstance(test, ast.BoolOp):
        strengths = [_expression_strength(value) for value in test.values]
        return max(strengths) if _is_and(test) else min(strengths) - 1
    if isinstance(test, ast.Compare):
        strength = min(_COMPARISONS.get(type(operator), _LOOSE) for operator in test.ops)
        if ast.dump(test.left) == ast.dump(test.comparators[0]):
            return _LOOSE  # it compares the code with itself
        return min(strength, _NEAR) if _collect_names(test) & {"approx", "ANY"} else strength
    if isinstance(test, ast.UnaryOp):
        return _expression_strength(test.operand)
    if isinstance(test, ast.Call):
        return _MORE_THAN_TRUTH.get(last_name(test), _TRUTH)
    return _TRUTH


def _call_strength(call: ast.Call) -> int:
    name = last_name(call)
    if name in _RAISING:
        return _raising_strength(call, name)
    if name in {"assertTrue", "assertFalse", "assert_"} and call.args:
        return _expression_strength(call.args[0])
    return _METHODS.get(name, _EXACT if name.startswith("assert") else _ORDER)


def _raising_strength(call: ast.Call, name: str) -> int:
    demands = name.endswith("Regex") or any(keyword.arg == "match" for keyword in call.keywords)
    exception = call.args[0] if call.args else ast.Constant(value=None)
    wide = last_name(exception) in _WIDE
    several = len(exception.elts) - 1 if isinstance(exception, ast.Tuple) else 0
    return _NEAR + demands - 2 * wide - min(several, 1)


def _measure_tolerance(node: ast.AST) -> float:
    """Give the largest deviation that a check allows, in whatever unit it is written."""
    tolerance = 0.0
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        for keyword in call.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                tolerance = max(tolerance, _tolerance_from_keyword(keyword.arg or "", float(value)))
    return tolerance


def _tolerance_from_keyword(name: str, value: float) -> float:
    if name in {"places", "decimal"}:
        return 10.0 ** -min(max(value, 0.0), 300.0)
    return value if name in {"rel", "abs", "delta", "rtol", "atol", "rel_tol", "abs_tol"} else 0.0


def _is_and(test: ast.expr) -> bool:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _collect_names(node: ast.AST) -> set[str]:
    return {last_name(n) for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)}


def _numbered_locals(function: Function) -> dict[str, str]:
    stored = (
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {name: f"local {number}" for number, name in enumerate(dict.fromkeys(stored))}


def _replace_local_names(text: str, numbers: dict[str, str]) -> str:
    return _NAME.sub(lambda found: f"Name(id='{numbers.get(found[1], found[1])}'", text)
