r"""New statements that run around tests without being one: what they do shows in no test's text.

`conftest.py`, the `__init__.py` of tests, plugins and `sitecustomize.py` run before or between
tests, and a module of tests runs its own top level before any of them. Whatever is new there is
named, however harmless it looks; a hand in the tables of names is a danger.

>>> hidden = Source(path="tests/test_a.py", old="", new="vars().pop('test_x')\n", is_test=True)
>>> [finding.rule for finding in examine(hidden)]
['names-rewritten', 'runs-around-tests']
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from astra.changes.findings.python_names import last_name, map_imported_names, spell_dotted_name
from astra.changes.findings.source import Source
from astra.trusted.changes import places
from astra.trusted.changes.evidence import Finding, Severity

_SUPPORT = re.compile(r"(?:conftest|__init__|(?:site|user)customize|.*plugins?)\.py")
_EVERYWHERE = re.compile(r"(?:site|user)customize\.py|.+\.pth")
_PLAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
_TABLES = frozenset({"vars", "globals", "locals"})
_SETTERS = frozenset({"__setattr__", "__delattr__", "__setitem__", "__delitem__"})
_ANSWERS = frozenset(
    {"__eq__", "__bool__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    | {"__contains__", "__len__", "__hash__"}
)


def examine(source: Source) -> Iterator[Finding]:
    if source.new is None:
        return
    name = source.path.rpartition("/")[2]
    if _EVERYWHERE.fullmatch(name) and source.added_numbers:
        message = f"{name} runs in every Python program that finds it, the test runner among them"
        yield source.make_file_finding(
            "runs-around-tests", Severity.DANGER, min(source.added_numbers), message
        )
    is_of_tests = source.is_test or places.belongs_to_tests(source.path, ())
    if source.language != "python" or not is_of_tests:
        return
    yield from _rewritten_names(source)
    yield from _new_statements(source, is_support=_SUPPORT.fullmatch(name) is not None)
    yield from _find_comparison_methods(source)


def _new_statements(source: Source, *, is_support: bool) -> Iterator[Finding]:
    """Name what runs when the file is loaded; in files around tests, also what runs in them."""
    nodes = source.new_nodes if is_support else _top_level(source.new_tree)
    before = source.old_nodes if is_support else _top_level(source.old_tree)
    old_counts = Counter(
        ast.dump(node) for node in before if _has_effect(node, is_support=is_support)
    )
    lines: set[int] = set()
    for node in nodes:
        if not isinstance(node, ast.stmt) or not _has_effect(node, is_support=is_support):
            continue
        if old_counts[key := ast.dump(node)] > 0:
            old_counts[key] -= 1
        elif node.lineno not in lines:
            lines.add(node.lineno)
            message = "runs around the tests, where no test shows what it does"
            yield source.make_finding("runs-around-tests", Severity.WARNING, node.lineno, message)


def _top_level(tree: ast.Module | None) -> list[ast.AST]:
    """Give the statements that run when a module is loaded, also those inside conditions."""
    pending_nodes: list[ast.AST] = list(tree.body) if tree else []
    nodes: list[ast.AST] = []
    while pending_nodes:
        node = pending_nodes.pop(0)
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending_nodes += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
    return nodes


def _has_effect(node: ast.AST, *, is_support: bool) -> bool:
    """Tell whether a statement does something when it is reached, besides naming a thing."""
    if not isinstance(node, ast.stmt) or (isinstance(node, _PLAIN) and not is_support):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(node, ast.Assign | ast.AnnAssign) and not is_support:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return not all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    return True


def _rewritten_names(source: Source) -> Iterator[Finding]:
    names = map_imported_names(source.new_nodes)
    old_counts = Counter(ast.dump(n) for n in source.old_nodes if _find_rewriter(n, names))
    for node in source.new_nodes:
        if not (rewriter := _find_rewriter(node, names)):
            continue
        if old_counts[key := ast.dump(node)] > 0:
            old_counts[key] -= 1
            continue
        line = getattr(node, "lineno", 0)
        message = f"{rewriter} can take tests away, or change what they run, without naming them"
        yield source.make_finding("names-rewritten", Severity.DANGER, line, message)


def _find_rewriter(node: ast.AST, names: dict[str, str]) -> str:
    """Find a hand in the tables behind names: of a module, of a class, or of a test."""
    if isinstance(node, ast.Attribute) and node.attr in {*_SETTERS, "__dict__", "__test__"}:
        return node.attr
    if not isinstance(node, ast.Call):
        return ""
    function_name = spell_dotted_name(node.func, names) or last_name(node)
    if function_name in _TABLES:
        return f"{function_name}()"
    if function_name in {"setattr", "delattr"} and node.args and _is_test_or_dunder(node):
        return function_name
    return ""


def _is_test_or_dunder(node: ast.Call) -> bool:
    """Tell whether an attribute is set on a test, or is one that Python or pytest goes by."""
    subject = last_name(node.args[0]).lower()
    second = node.args[1] if len(node.args) > 1 else None
    is_plain = isinstance(second, ast.Constant) and not str(second.value).startswith("__")
    return subject.startswith("test") or not is_plain


def _find_comparison_methods(source: Source) -> Iterator[Finding]:
    """Name new comparisons of objects that belong to the tests: a check may ask them."""
    old_names = {node.name for node in source.old_nodes if isinstance(node, ast.FunctionDef)}
    for node in source.new_nodes:
        is_answer = isinstance(node, ast.FunctionDef) and node.name in _ANSWERS
        if is_answer and isinstance(node, ast.FunctionDef) and node.name not in old_names:
            if node.name in {"__eq__", "__bool__"} and _is_constant(node.body[-1]):
                continue  # `python_test_setup` names it as what it is
            message = f"{node.name} of the tests decides what compares as equal or true"
            yield source.make_finding("equal-to-everything", Severity.WARNING, node.lineno, message)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
