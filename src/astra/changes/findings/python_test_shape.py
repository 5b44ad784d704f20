r"""Python tests that are still there by name and no longer run as tests.

>>> old, new = "def test_a():\n    assert x\n", "def test_a():\n    assert x\n    yield\n"
>>> source = Source(path="test_a.py", old=old, new=new, is_test=True)
>>> [finding.rule for finding in examine(source)]
['test-not-collected']
"""

import ast
from collections.abc import Iterator

from astra.changes.findings.python_checks import Function
from astra.changes.findings.python_names import last_name, map_imported_names, spell_dotted_name
from astra.changes.findings.python_tests import Test, tests_in
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER, _WARNING = Severity.DANGER, Severity.WARNING
_KNOWN_WRAPPERS = frozenset(
    {"given", "settings", "example", "seed", "patch", "object", "dict", "multiple", "freeze_time"}
    | {"staticmethod", "classmethod", "override", "parametrize", "usefixtures", "override_settings"}
)
_MARKS = ("pytest.mark.", "mark.")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def examine(source: Source) -> Iterator[Finding]:
    if not source.is_test or source.language != "python" or source.new_tree is None:
        return
    before = {test.name: test for test in tests_in(source.old_tree)}
    names = map_imported_names(source.new_nodes)
    after = tests_in(source.new_tree)
    for test in after:
        yield from _run_as(source, before.get(test.name), test)
        yield from _find_wrappers(source, before.get(test.name), test, names)
    yield from _bound_again(source, {test.name for test in after})
    yield from _made_by_hand(source)


def _run_as(source: Source, old: Test | None, new: Test) -> Iterator[Finding]:
    line = new.function.lineno
    if _is_generator(new.function) and not (old and _is_generator(old.function)):
        message = f"{new.name} yields, so that the runner does not run it as a test"
        yield source.make_finding("test-not-collected", _DANGER, line, message)
    is_async = isinstance(new.function, ast.AsyncFunctionDef)
    if is_async and old and not isinstance(old.function, ast.AsyncFunctionDef):
        message = f"{new.name} is async now, and runs only where a plugin runs such tests"
        yield source.make_finding("test-conditional", _WARNING, line, message)


def _find_wrappers(
    source: Source, old: Test | None, new: Test, names: dict[str, str]
) -> Iterator[Finding]:
    old_marks = {ast.dump(mark) for mark in old.function.decorator_list} if old else set[str]()
    for mark in new.function.decorator_list:
        if ast.dump(mark) in old_marks:
            continue
        spelled = spell_dotted_name(mark.func if isinstance(mark, ast.Call) else mark, names)
        name = last_name(mark)
        if name in {"fixture", "property", "cached_property"}:
            message = f"{new.name} is a {name} now, and not collected"
            yield source.make_finding("test-not-collected", _DANGER, mark.lineno, message)
        elif name == "parametrize" and _has_no_case(mark):
            message = f"{new.name} has no case, so it is skipped"
            yield source.make_finding("cases-removed", _DANGER, mark.lineno, message)
        elif name not in _KNOWN_WRAPPERS and not spelled.startswith(_MARKS) and old:
            message = f"{new.name} is wrapped by {spelled or name}, which decides whether it fails"
            yield source.make_finding("test-wrapped", _WARNING, mark.lineno, message)


def _is_generator(function: Function) -> bool:
    """Tell whether a function is a generator by its own body."""
    nodes: list[ast.AST] = list(function.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            nodes += ast.iter_child_nodes(node)
    return False


def _has_no_case(mark: ast.expr) -> bool:
    if not isinstance(mark, ast.Call):
        return False
    case_lists = [*mark.args[1:2], *(k.value for k in mark.keywords if k.arg == "argvalues")]
    return any(isinstance(v, ast.List | ast.Tuple | ast.Set) and not v.elts for v in case_lists)


def _bound_again(source: Source, tests: set[str]) -> Iterator[Finding]:
    """Find a test whose name is given to something else in the same body."""
    old_bindings = {(name, kind) for name, kind, _line in _list_bindings(source.old_tree)}
    for name, kind, line in _list_bindings(source.new_tree):
        if name in tests and (name, kind) not in old_bindings:
            message = f"{name} is the name of something else too, so the test may never run"
            yield source.make_finding("test-shadowed", _DANGER, line, message)


def _list_bindings(tree: ast.Module | None) -> Iterator[tuple[str, str, int]]:
    """Give the names that assignments, imports and classes bind at the top, and in classes."""
    for prefix, node in _list_statements(tree.body, "") if tree else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield prefix + (alias.asname or alias.name), "import", node.lineno
        elif isinstance(node, ast.ClassDef):
            yield prefix + node.name, "class", node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With):
            for target in ast.walk(node):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    yield prefix + target.id, "value", node.lineno


def _list_statements(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        yield prefix, node
        if isinstance(node, ast.ClassDef):
            yield from _list_statements(node.body, f"{prefix}{node.name}.")
        elif not isinstance(node, _FUNCTIONS):
            for name in ("body", "orelse", "finalbody"):
                yield from _list_statements(getattr(node, name, []), prefix)


def _made_by_hand(source: Source) -> Iterator[Finding]:
    """Find classes of tests that pytest leaves out because they have a constructor."""
    before = {node.name for node in _with_constructor(source.old_nodes)}
    for node in _with_constructor(source.new_nodes):
        if node.name not in before:
            message = f"{node.name} has a constructor, so pytest does not collect its tests"
            yield source.make_finding("test-not-collected", _DANGER, node.lineno, message)


def _with_constructor(nodes: list[ast.AST]) -> Iterator[ast.ClassDef]:
    for node in nodes:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            method_names = {inner.name for inner in node.body if isinstance(inner, _FUNCTIONS)}
            has_tests = any(name.startswith("test") for name in method_names)
            if has_tests and not method_names.isdisjoint({"__init__", "__new__"}):
                yield node
