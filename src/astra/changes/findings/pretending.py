r"""Code that can tell whether it is being tested, and so can behave well only then.

Names that only a test runner uses are dangers wherever they stand. What tells the place a program
runs in (its own path, the machine, the user's home) has honest uses, so it is a danger where a
decision hangs on it, and a warning elsewhere.

>>> cheat = Source(path="src/a.py", old="", new="if 'PYTEST_CURRENT_TEST' in env:\n    pass\n")
>>> [finding.line for finding in examine(cheat)]
[1]
"""

import ast
import re
from collections.abc import Iterator

from astra.changes.findings.python_names import map_imported_names, spell_dotted_name
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_NOTICES = re.compile(
    r"PYTEST_\w+|_called_from_test|_pytest\b"
    r"|\b(?:pytest|unittest|nose|hypothesis)[\"'] (?:not )?in\b"
    r"|\bin sys\.argv\b.*test|JEST_WORKER_ID|VITEST\w*|NODE_ENV\W{1,6}test\b|import\.meta\.vitest"
    r"|^\s*(?:import|from)\s+(?:pytest|_pytest|unittest|nose|hypothesis)\b|(?i:junit)|/proc/self\b"
    r"|/workspace\b|GITHUB_ACTIONS|\bCONTINUOUS_INTEGRATION\b|[\"']CI[\"']|process\.env\.CI\b"
)
_PLACE = re.compile(
    r"__file__|platform\.(?:node|uname|platform|version|release)|socket\.(?:gethostname|getfqdn)"
    r"|os\.(?:uname|getcwd|getlogin|getuid|geteuid|getppid|cpu_count)|pwd\..*|getpass\.getuser"
    r"|(?:pathlib\.)?Path\.(?:home|cwd)|os\.path\.expanduser|sys\.(?:argv|executable|prefix"
    r"|base_prefix|modules|orig_argv|flags)|inspect\.(?:stack|currentframe)|uuid\.getnode"
)
_METHODS = frozenset({"expanduser", "gethostname"})
_CODE = frozenset({"python", "javascript", "typescript", "tsx", "shell"})


def examine(source: Source) -> Iterator[Finding]:
    if source.is_test or source.language not in _CODE:
        return
    reported_lines: set[int] = set()
    for number in sorted(source.added_numbers):
        if match := _NOTICES.search(source.new_lines[number - 1][:2000]):
            reported_lines.add(number)
            message = f"{match[0].strip()} lets code notice that it is being tested"
            yield source.make_finding("notices-tests", Severity.DANGER, number, message)
    if source.language == "python":
        yield from _of_place(source, reported_lines)


def _of_place(source: Source, named: set[int]) -> Iterator[Finding]:
    """Find what tells the place, on lines that are not named already."""
    names = map_imported_names(source.new_nodes)
    deciding = _find_condition_nodes(source.new_nodes, names)
    lines = set(named)
    for node in source.new_nodes:
        line = getattr(node, "lineno", 0)
        if (
            line in lines
            or not source.is_added(node)
            or not (place := _find_place_name(node, names))
        ):
            continue
        lines.add(line)
        if id(node) in deciding:
            message = f"{place} tells where code runs, and a decision hangs on it"
            yield source.make_finding("notices-tests", Severity.DANGER, line, message)
        else:
            message = f"{place} tells code where it runs"
            yield source.make_finding("reads-its-place", Severity.WARNING, line, message)


def _find_place_name(node: ast.AST, names: dict[str, str]) -> str:
    if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
        return ""
    spelled = spell_dotted_name(node, names)
    if _PLACE.fullmatch(spelled):
        return spelled
    return node.attr if isinstance(node, ast.Attribute) and node.attr in _METHODS else ""


def _find_condition_nodes(nodes: list[ast.AST], names: dict[str, str]) -> set[int]:
    """Find what stands in a condition, itself or through a variable that a condition reads."""
    inside = {
        id(part) for node in nodes for test in _list_conditions(node) for part in ast.walk(test)
    }
    condition_names = {
        node.id for node in nodes if isinstance(node, ast.Name) and id(node) in inside
    }
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = {t.id for t in targets if isinstance(t, ast.Name)}
            if not stored.isdisjoint(condition_names) and any(
                _find_place_name(p, names) for p in ast.walk(node.value)
            ):
                inside |= {id(part) for part in ast.walk(node.value)}
    return inside


def _list_conditions(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        yield node.test
    elif isinstance(node, ast.Compare | ast.BoolOp):
        yield node
    elif isinstance(node, ast.Match):
        yield node.subject
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
