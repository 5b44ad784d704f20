"""Functions beside Python tests that prove less after a change: helpers, fixtures, base classes.

A helper is every function of the tests that is not a test itself. Helpers are matched by name, in
the same file first and then anywhere in the change, and compared as tests are. One that is called
by a test and checks something is a check of that test.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astra.changes.findings.check_comparison import (
    find_certain_checks,
    find_weaker_checks,
    is_hollow,
)
from astra.changes.findings.python_checks import Function, Names, list_checks
from astra.changes.findings.python_names import last_name
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER, _WARNING = Severity.DANGER, Severity.WARNING


@dataclass(frozen=True, kw_only=True)
class Helper:
    name: str
    function: Function
    source: Source

    @property
    def is_fixture(self) -> bool:
        return any(last_name(mark) == "fixture" for mark in self.function.decorator_list)

    @property
    def title(self) -> str:
        return f"the {'fixture' if self.is_fixture else 'helper'} {self.name}"


def examine(sources: Sequence[Source]) -> Iterator[Finding]:
    python = [s for s in sources if s.is_test and s.language == "python" and s.new_tree]
    names = name_checking_helpers(python)
    fresh = {
        h.name: h for s in python for h in _subtract_helpers(helpers_in(s), helpers_in(s, old=True))
    }
    for source in python:
        before, after = helpers_in(source, old=True), helpers_in(source)
        for name, helper in before.items():
            new = after.get(name) or fresh.get(name)
            yield from (
                _compare_helper(helper, new, names) if new else _find_removed_helper(helper, names)
            )
        for helper in _subtract_helpers(after, before):
            yield from _acts_unasked(helper, None)


def name_checking_helpers(sources: Sequence[Source]) -> Names:
    """Name the helpers that check something, before the change or after it."""
    helpers = (
        helper
        for source in sources
        for old in (True, False)
        for helper in helpers_in(source, old=old).values()
    )
    return frozenset(helper.function.name for helper in helpers if list_checks(helper.function))


def helpers_in(source: Source, *, old: bool = False) -> dict[str, Helper]:
    tree = source.old_tree if old else source.new_tree
    functions = _list_helper_functions(tree.body, "") if tree else ()
    return {name: Helper(name=name, function=node, source=source) for name, node in functions}


def _list_helper_functions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("test"):
                yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _list_helper_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _list_helper_functions([*node.body, *getattr(node, "orelse", [])], prefix)


def _subtract_helpers(these: dict[str, Helper], others: dict[str, Helper]) -> list[Helper]:
    return [helper for name, helper in these.items() if name not in others]


def _compare_helper(old: Helper, new: Helper, names: Names) -> Iterator[Finding]:
    source, line = new.source, new.function.lineno
    before, after = list_checks(old.function, names), list_checks(new.function, names)
    yield from find_certain_checks(source, new.title, before, after)
    yield from find_weaker_checks(source, new.title, before, after)
    if is_hollow(new.function) and not is_hollow(old.function):
        yield source.make_finding("helper-emptied", _DANGER, line, f"{new.title} does nothing now")
    elif (
        _is_constant(new.function)
        and not _is_constant(old.function)
        and _has_return_value(old.function)
    ):
        severity = _WARNING if new.is_fixture else _DANGER
        message = f"{new.title} gives the same now, whatever the code does"
        yield source.make_finding("helper-constant", severity, line, message)
    yield from _acts_unasked(new, old)


def _find_removed_helper(helper: Helper, names: Names) -> Iterator[Finding]:
    """Report a helper that checked something and is not there; worse if its name still is."""
    if not list_checks(helper.function, names):
        return
    nodes = helper.source.new_nodes
    used = any(last_name(n) == helper.function.name for n in nodes if isinstance(n, _NAMES))
    severity = _DANGER if used else _WARNING
    message = f"{helper.title} is gone" + (", and something else has its name" if used else "")
    yield helper.source.make_lost_finding(
        "helper-removed", severity, helper.function.lineno, message
    )


def _acts_unasked(new: Helper, old: Helper | None) -> Iterator[Finding]:
    if _is_autouse(new) and not (old and _is_autouse(old)):
        message = f"{new.title} acts on every test now, unasked"
        line = new.function.lineno
        yield new.source.make_finding("fixture-everywhere", _WARNING, line, message)


def _is_autouse(helper: Helper) -> bool:
    return any(
        keyword.arg == "autouse"
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for mark in helper.function.decorator_list
        if isinstance(mark, ast.Call) and last_name(mark) == "fixture"
        for keyword in mark.keywords
    )


def _has_return_value(function: Function) -> bool:
    return bool(_list_returned_values(function))


def _is_constant(function: Function) -> bool:
    """Tell whether all that a function can give is written out in it."""
    values = _list_returned_values(function)
    return bool(values) and all(isinstance(value, ast.Constant) for value in values)


def _list_returned_values(function: Function) -> list[ast.expr]:
    nodes = (n for n in ast.walk(function) if isinstance(n, ast.Return | ast.Yield))
    return [node.value for node in nodes if node.value is not None]


_NAMES = (ast.Name, ast.Attribute)
