"""Python tests that prove less after a change than before.

Tests are matched by name, then the checks within them (`check_comparison`). Findings of this module
are what a reviewer should look at first: code that fails its tests can be made to pass here.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astra.changes.findings.check_comparison import (
    find_certain_checks,
    find_weaker_checks,
    is_hollow,
)
from astra.changes.findings.python_checks import Function, Names, list_checks, shape_of
from astra.changes.findings.python_helpers import name_checking_helpers
from astra.changes.findings.python_names import last_name
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER = Severity.DANGER
_NO_TESTS = frozenset({"object", "ABC", "Protocol", "Generic", "Enum", "NamedTuple", "TypedDict"})


@dataclass(frozen=True, kw_only=True)
class Test:
    __test__ = False

    name: str
    function: Function
    conditional: bool = False


def examine(sources: Sequence[Source]) -> Iterator[Finding]:
    """Look at all changed files at once, since a test may move from one to another."""
    python = [s for s in sources if s.is_test and s.language == "python"]
    elsewhere = Counter(
        shape_of(test.function)
        for source in python
        for test in tests_in(source.new_tree)
        if test.name not in {t.name for t in tests_in(source.old_tree)}
    )
    helpers = name_checking_helpers(python)
    for source in python:
        old, new = tests_in(source.old_tree), tests_in(source.new_tree)
        yield from _find_shadowed_tests(source, old, new)
        before, after = {t.name: t for t in old}, {t.name: t for t in new}
        if source.new is not None and source.new_tree is not None:
            yield from _find_lost_tests(source, before, after, elsewhere)
        for name, test in after.items():
            yield from _compare_test(source, before.get(name), test, helpers)


def tests_in(tree: ast.Module | None) -> list[Test]:
    return list(_list_tests(tree.body, "", conditional=False)) if tree else []


def _list_tests(body: list[ast.stmt], prefix: str, *, conditional: bool) -> Iterator[Test]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                yield Test(name=prefix + node.name, function=node, conditional=conditional)
        elif isinstance(node, ast.ClassDef):
            if is_collected(node):
                inner = f"{prefix}{node.name}."
                yield from _list_tests(node.body, inner, conditional=conditional)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            branches = [*node.body, *getattr(node, "orelse", [])]
            yield from _list_tests(branches, prefix, conditional=True)


def is_collected(node: ast.ClassDef) -> bool:
    """Tell whether a runner looks for tests in a class: by its name, or by what it is made from."""
    bases = {last_name(base) for base in node.bases} - _NO_TESTS
    return node.name.startswith("Test") or bool(bases - {""})


def _find_shadowed_tests(source: Source, old: list[Test], new: list[Test]) -> Iterator[Finding]:
    before = Counter(test.name for test in old)
    counts = Counter(test.name for test in new if not test.conditional)
    for test in new:
        if counts[test.name] > max(1, before[test.name]):
            counts[test.name] -= 1
            message = f"{test.name} is defined again below, so this one never runs"
            yield source.make_finding("test-shadowed", _DANGER, test.function.lineno, message)


def _find_lost_tests(
    source: Source, before: dict[str, Test], after: dict[str, Test], elsewhere: Counter[str]
) -> Iterator[Finding]:
    other_functions = _other_functions(source.new_tree)
    for name in before.keys() - after.keys():
        test = before[name]
        shape = shape_of(test.function)
        if elsewhere[shape] > 0:
            elsewhere[shape] -= 1
        elif shape in other_functions:
            message = f"{name} is no longer collected (now {other_functions[shape].name})"
            yield source.make_finding(
                "test-not-collected", _DANGER, other_functions[shape].lineno, message
            )
        else:
            line = test.function.lineno
            yield source.make_lost_finding(
                "test-removed", _DANGER, line, f"the test {name} is gone"
            )


def _other_functions(tree: ast.Module | None) -> dict[str, Function]:
    nodes = ast.walk(tree) if tree else ()
    functions = (n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {shape_of(function): function for function in functions}


def _compare_test(source: Source, old: Test | None, new: Test, helpers: Names) -> Iterator[Finding]:
    line = new.function.lineno
    if is_hollow(new.function) and not (old and is_hollow(old.function)):
        yield source.make_finding("test-empty", _DANGER, line, f"{new.name} does nothing")
    before = list_checks(old.function, helpers) if old else []
    after = list_checks(new.function, helpers)
    yield from find_certain_checks(source, new.name, before, after)
    if old is None:
        return
    if new.conditional and not old.conditional:
        message = f"{new.name} is only defined on a condition now"
        yield source.make_finding("test-conditional", _DANGER, line, message)
    yield from _fewer_cases(source, old, new)
    yield from find_weaker_checks(source, new.name, before, after)


def _fewer_cases(source: Source, old: Test, new: Test) -> Iterator[Finding]:
    before, after = _count_cases(old.function), _count_cases(new.function)
    if before is not None and (after is None or after < before):
        message = f"{new.name} runs with fewer cases ({after or 'none'} instead of {before})"
        yield source.make_finding("cases-removed", _DANGER, new.function.lineno, message)


def _count_cases(function: Function) -> int | None:
    """Multiply the lengths of the written-out lists of cases; None where there are none."""
    counts = [
        len(call.args[1].elts)
        for call in function.decorator_list
        if isinstance(call, ast.Call)
        and last_name(call) == "parametrize"
        and len(call.args) > 1
        and isinstance(call.args[1], ast.List | ast.Tuple)
    ]
    product = 1
    for count in counts:
        product *= count
    return product if counts else None
