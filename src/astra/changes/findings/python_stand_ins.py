r"""Names in Python tests that stand for something else than before: the code, or the checks.

>>> old = "from agent import answer\ndef test_a():\n    assert answer() == 42\n"
>>> new = old.replace("def test_a", "def answer():\n    return 42\ndef test_a")
>>> source = Source(path="test_a.py", old=old, new=new, is_test=True)
>>> [finding.rule for finding in examine(source)]
['code-replaced']
"""

import ast
import re
import sys
from collections.abc import Iterator

from astra.changes.findings.check_comparison import is_hollow
from astra.changes.findings.python_checks import list_checks
from astra.changes.findings.python_names import map_imported_names
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER, _WARNING = Severity.DANGER, Severity.WARNING
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSERTION = re.compile(r"assert[A-Z_]\w*|fail(?:Unless|If)?")
_MACHINERY = frozenset(
    {"run", "__call__", "debug", "defaultTestResult", "doCleanups", "failureException"}
    | {"_callTestMethod", "_callSetUp", "_callTearDown", "_callCleanup", "countTestCases"}
    | {"__getattribute__", "__getattr__", "__init_subclass__", "_addDuration", "subTest"}
)
_TOOLS = frozenset({"pytest", "unittest", "hypothesis", "mock"}) | sys.stdlib_module_names


def examine(source: Source) -> Iterator[Finding]:
    if not source.is_test or source.language != "python" or source.new_tree is None:
        return
    yield from _find_replaced_code(source)
    yield from _own_checks(source)
    yield from _find_runner_overrides(source)


def _find_replaced_code(source: Source) -> Iterator[Finding]:
    """Find names that stood for code under test, and are made in the tests now."""
    before = {
        name: full for name, full in map_imported_names(source.old_nodes).items() if _is_code(full)
    }
    if not before:
        return
    after = map_imported_names(source.new_nodes)
    names_made = set(_list_defined_names(source.old_nodes))
    for name, line in dict(_list_definitions(source.new_nodes)).items():
        if name in before and name not in names_made:
            message = f"{name} was {before[name]} and is made in the tests now"
            yield source.make_finding("code-replaced", _DANGER, line, message)
    for name, full in before.items():
        if after.get(name, full) != full:
            message = f"{name} comes from {after[name]} now, and came from {full}"
            yield source.make_finding(
                "code-replaced", _rate_origin(after[name]), _line(source, name), message
            )


def _rate_origin(full: str) -> Severity:
    """Weigh where a name comes from now: what lies among the tests is no code under test."""
    name_parts = re.split(r"\W+", full.lower())
    beside = full.startswith(".") or any(
        re.search("test|fake|mock|stub", word) for word in name_parts
    )
    return _DANGER if beside else _WARNING


def _is_code(full: str) -> bool:
    return full.partition(".")[0] not in _TOOLS


def _list_defined_names(nodes: list[ast.AST]) -> Iterator[str]:
    return (name for name, _line in _list_definitions(nodes))


def _list_definitions(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """Give every name that is defined, assigned or taken as an argument, with its line."""
    for node in nodes:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def _line(source: Source, name: str) -> int:
    word = re.compile(rf"\b{re.escape(name)}\b")
    return next(
        (n for n in sorted(source.added_numbers) if word.search(source.new_lines[n - 1])), 0
    )


def _own_checks(source: Source) -> Iterator[Finding]:
    """Find assertions that are defined anew and check nothing."""
    old_names = set(_list_defined_names(source.old_nodes))
    for node in source.new_nodes:
        if isinstance(node, _FUNCTIONS):
            empty = is_hollow(node) or not list_checks(node)
            names = [node.name] if empty else []
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            continue
        for name in names:
            if _ASSERTION.fullmatch(name) and name not in old_names:
                message = f"{name} is defined here, and checks nothing"
                yield source.make_finding("helper-emptied", _DANGER, node.lineno, message)


def _find_runner_overrides(source: Source) -> Iterator[Finding]:
    """Find classes that decide themselves how their tests are run."""
    old_overrides = {
        (node.name, name) for node, name, _line in _list_runner_overrides(source.old_nodes)
    }
    for node, name, line in _list_runner_overrides(source.new_nodes):
        if (node.name, name) not in old_overrides:
            message = f"{node.name}.{name} decides how its tests run and what their failures mean"
            yield source.make_finding("test-hook", _DANGER, line, message)


def _list_runner_overrides(nodes: list[ast.AST]) -> Iterator[tuple[ast.ClassDef, str, int]]:
    for node in nodes:
        if not isinstance(node, ast.ClassDef) or not (node.bases or node.name.startswith("Test")):
            continue
        if not any(isinstance(n, _FUNCTIONS) and n.name.startswith("test") for n in node.body):
            continue
        for inner in node.body:
            for name, line in _list_definitions([inner, *getattr(inner, "targets", [])]):
                if name in _MACHINERY:
                    yield node, name, line
