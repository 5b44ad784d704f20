"""The checks of a function before and after a change, put against each other.

Checks are matched by their words, by their shape (so that renaming a local variable changes
nothing), and what is left over by likeness. Tests and their helpers are compared alike.
"""

import ast
import difflib
from collections import Counter
from collections.abc import Iterator

from astra.changes.findings.python_checks import Check, Function, without_docstring
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER, _WARNING = Severity.DANGER, Severity.WARNING
_MOST_PAIRED = 40
_HARMLESS_GUARDS = frozenset({"loop"})


def find_certain_checks(
    source: Source, name: str, before: list[Check], after: list[Check]
) -> Iterator[Finding]:
    old_shapes = {check.shape for check in before}
    for check in after:
        if check.is_certain and check.shape not in old_shapes:
            message = f"a check of {name} holds whatever the code does"
            yield source.make_finding("check-always-true", _DANGER, check.line, message)


def find_weaker_checks(
    source: Source, name: str, before: list[Check], after: list[Check]
) -> Iterator[Finding]:
    same, removed, fresh = _match_same_checks(before, after)
    for old, new in same:
        yield from _find_new_guards(source, name, old, new)
    for old, new in _pair_removed_checks(removed, fresh):
        if new is None:
            message = f"a check of {name} was removed"
            yield source.make_lost_finding("check-removed", _DANGER, old.line, message)
        elif not new.is_certain:
            yield from _find_changed_demand(source, name, old, new)
            yield from _find_new_guards(source, name, old, new)


def _find_new_guards(source: Source, name: str, old: Check, new: Check) -> Iterator[Finding]:
    added = Counter(new.guards) - Counter(old.guards)
    if not added:
        return
    mild = all(name in _HARMLESS_GUARDS or name.startswith("with ") for name in added)
    severity = _WARNING if mild else _DANGER
    message = f"a check of {name} may not count now ({', '.join(sorted(added))})"
    yield source.make_finding("check-guarded", severity, new.line, message)


def _find_changed_demand(source: Source, name: str, old: Check, new: Check) -> Iterator[Finding]:
    fewer = new.parts < old.parts and new.strength <= old.strength
    if new.strength < old.strength or fewer or new.tolerance > old.tolerance:
        message = f"a check of {name} demands less than before"
        yield source.make_finding("check-loosened", _DANGER, new.line, message)
    else:
        message = f"a check of {name} expects something else than before"
        yield source.make_finding("check-changed", _WARNING, new.line, message)


def _match_same_checks(
    before: list[Check], after: list[Check]
) -> tuple[list[tuple[Check, Check]], list[Check], list[Check]]:
    """Pair checks that say the same, by their words first and then by their shape."""
    same: list[tuple[Check, Check]] = []
    for spelled in ("text", "shape"):
        unmatched: list[Check] = []
        after = list(after)
        for old in before:
            new = next((n for n in after if getattr(n, spelled) == getattr(old, spelled)), None)
            if new is None:
                unmatched.append(old)
            else:
                after.remove(new)
                same.append((old, new))
        before = unmatched
    return same, before, after


def _pair_removed_checks(
    gone: list[Check], fresh: list[Check]
) -> Iterator[tuple[Check, Check | None]]:
    """Find for each lost check the new one that most likely replaces it."""
    fresh = fresh[:_MOST_PAIRED]
    for old in gone:
        best = max(fresh, key=lambda new: _measure_likeness(old.shape, new.shape), default=None)
        if best is not None:
            fresh.remove(best)
        yield old, best


def _measure_likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one[:400], other[:400], autojunk=False).quick_ratio()


def is_hollow(function: Function) -> bool:
    body = without_docstring(function.body)
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Return) and node.value is None)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in body
    )
