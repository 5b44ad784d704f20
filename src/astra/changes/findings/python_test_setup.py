"""What stands around Python tests and can make them pass: skips, hooks, patches, early exits.

Only what a change brings is named: each thing is compared, layout and the names of variables
aside, with what the file had before.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from astra.changes.findings.python_checks import shape_of
from astra.changes.findings.python_names import last_name, map_imported_names, spell_dotted_name
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

_DANGER, _WARNING = Severity.DANGER, Severity.WARNING
_SKIPS = frozenset(
    {"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure", "skipTest"}
    | {"importorskip", "SkipTest", "skip_module", "Skipped", "flaky"}
)
_HOOKS = frozenset(
    f"pytest_{name}"
    for name in (
        *("collection_modifyitems", "runtest_makereport", "sessionfinish", "runtest_call"),
        *("pyfunc_call", "ignore_collect", "collect_file", "runtest_protocol", "configure"),
        *("cmdline_main", "report_teststatus", "exception_interact", "itemcollected"),
        *("pycollect_makeitem", "runtestloop", "unconfigure", "load_initial_conftests"),
        *("generate_tests", "fixture_setup", "runtest_setup", "runtest_teardown", "sessionstart"),
        *("addoption", "cmdline_parse", "cmdline_preparse", "collection", "collection_finish"),
        *("collect_directory", "pycollect_makemodule", "runtest_logreport", "junit_modify_report"),
        *("assertion_pass", "make_collect_report", "collectreport", "deselected", "plugins"),
    )
) | {"load_tests", "setUpModule"}
_HARMLESS_HOOKS = frozenset({"pytest_report_header", "pytest_asyncio", "pytest_mock"})
_REPORT = re.compile(r"junit|\bxmlpath\b", re.IGNORECASE)
_RUNNERS_OWN = frozenset(
    {"_outcome", "testsfailed", "testscollected", "add_marker", "applymarker", "shouldfail"}
    | {"shouldstop", "_testMethodName", "addSkip", "addExpectedFailure", "wasSuccessful"}
)
_STORED = re.compile(r"sys\.(?:exit|excepthook|flags)|builtins\..+|unittest\..+|.*\.node\.obj")
_SESSION = re.compile(r"\bsession\.items$")
_EXITS = frozenset({"sys.exit", "os._exit", "exit", "quit", "os.abort", "os.kill", "pytest.exit"})
_PATCHES = re.compile(
    r"(?:.*\.)?patch(?:\.(?:object|multiple|dict))?|.+\.(?:set(?:attr|item)|del(?:attr|item))"
)
_SWITCHES = frozenset({"__test__", "collect_ignore", "collect_ignore_glob", "pytest_plugins"})
_NAME = re.compile(r"Name\(id='([^']*)'")
Pick = Callable[[ast.AST, dict[str, str]], str]


def examine(source: Source) -> Iterator[Finding]:
    if source.language != "python" or not source.new or not _may_matter(source):
        return
    reported: set[tuple[str, int]] = set()
    for pick, rule, severity in _PICKS if source.is_test else _EVERYWHERE:
        for node, message in _find_new_picks(source, pick):
            line = getattr(node, "lineno", 0)
            if (rule, line) not in reported:
                reported.add((rule, line))
                yield source.make_finding(rule, severity, line, message)


def _find_new_picks(source: Source, pick: Pick) -> Iterator[tuple[ast.AST, str]]:
    """Give what the new text has more of than the old one, in order."""
    old_keys = Counter(key for _node, key, _message in _collect_picks(source.old_nodes, pick))
    for node, key, message in _collect_picks(source.new_nodes, pick):
        if old_keys[key] > 0:
            old_keys[key] -= 1
        else:
            yield node, message


def _may_matter(source: Source) -> bool:
    """Tell whether a file outside the tests could hold a hook at all."""
    hook_names = (*_HOOKS, "specname", "pluginmanager")
    return source.is_test or any(word in (source.new or "") for word in hook_names)


def _collect_picks(nodes: list[ast.AST], pick: Pick) -> Iterator[tuple[ast.AST, str, str]]:
    names = map_imported_names(nodes)
    picks = [(node, message) for node in nodes if (message := pick(node, names))]
    variables = _collect_local_names(nodes) if picks else set[str]()
    for node, message in picks:
        yield node, _build_node_key(node, variables), message


def _build_node_key(node: ast.AST, variables: set[str]) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{node.name} {shape_of(node)}"
    text = ast.dump(node)
    return _NAME.sub(lambda found: "Name(" if found[1] in variables else found[0], text)


def _collect_local_names(nodes: list[ast.AST]) -> set[str]:
    """Name what functions assign and the module does not: their own variables."""
    body = nodes[0].body if nodes and isinstance(nodes[0], ast.Module) else []
    inside = {name for node in body if _is_function(node) for name in _collect_stored_names(node)}
    return inside - {
        name for node in body if not _is_function(node) for name in _collect_stored_names(node)
    }


def _collect_stored_names(node: ast.AST) -> set[str]:
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _find_skip(node: ast.AST, names: dict[str, str]) -> str:
    """Take a marker with its arguments, or without any; not both for one marker."""
    if isinstance(node, ast.Call):
        full = spell_dotted_name(node.func, names) or last_name(node)
    elif isinstance(node, ast.Attribute | ast.Name):
        full = spell_dotted_name(node, names)
    else:
        return ""
    is_marker = isinstance(node, ast.Call | ast.Attribute) or full.startswith("unittest.")
    if full.rpartition(".")[2] in _SKIPS and is_marker:
        return f"{full} keeps tests from counting"
    return ""


def _find_hook(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Call):
        function = spell_dotted_name(node.func, names)
        has_specname = any(keyword.arg == "specname" for keyword in node.keywords)
        if has_specname or ".pluginmanager." in function:
            return f"{function} adds a hook to the test runner under another name"
    for name in _list_bound_names(node):
        if name in _HOOKS or (name.startswith("pytest_") and name not in _HARMLESS_HOOKS):
            return f"{name} can change which tests run and how their results read"
    return ""


def _list_bound_names(node: ast.AST) -> Iterator[str]:
    """Give the names under which a hook could be found, however they are bound."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _find_runner_access(node: ast.AST, names: dict[str, str]) -> str:
    """Find a hand in the runner's own objects: what a test is, whether it failed, what is left."""
    if not isinstance(node, ast.Attribute):
        return ""
    spelled = spell_dotted_name(node, names)
    stored = isinstance(node.ctx, ast.Store)
    if node.attr in _RUNNERS_OWN or (stored and _STORED.fullmatch(spelled)):
        return f"{spelled or node.attr} is the test runner's own"
    return f"{spelled} decides what runs" if _SESSION.search(spelled) else ""


def _find_star_import(node: ast.AST, _names: dict[str, str]) -> str:
    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        return f"takes every name of {node.module or 'its package'}, hooks and fixtures among them"
    return ""


def _find_report_mention(node: ast.AST, _names: dict[str, str]) -> str:
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(text, str) and _REPORT.search(text):
        return "speaks of the report that the verdict is read from"
    return ""


def _find_exit(node: ast.AST, names: dict[str, str]) -> str:
    name = spell_dotted_name(node.func, names) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Raise) and node.exc is not None:
        name = {"SystemExit": "exit"}.get(last_name(node.exc), "")
    return f"{name} can end the run before its tests fail" if name in _EXITS else ""


def _find_patch(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Call) and node.args:
        spelled = spell_dotted_name(node.func, names) or last_name(node)
        if _PATCHES.fullmatch(spelled):
            return _describe_patch(_read_patch_subject(node.args[0], names))
        if spelled in {"setattr", "delattr"} and _first_name(node.args[0]) in names:
            return _describe_patch(_read_patch_subject(node.args[0], names))
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and _first_name(target) in names:
                return _describe_patch(spell_dotted_name(target, names))
            if (
                isinstance(target, ast.Subscript)
                and spell_dotted_name(target.value, names) == "sys.modules"
            ):
                return _describe_patch(_read_patch_subject(target.slice, names))
    return ""


def _describe_patch(subject: str) -> str:
    first = subject.partition(".")[0]
    if first in sys.stdlib_module_names and subject:
        return ""
    return f"replaces {subject or 'something'}, so that the test no longer runs the real code"


def _read_patch_subject(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return spell_dotted_name(node, names)


def _first_name(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _find_collection_switch(node: ast.AST, _names: dict[str, str]) -> str:
    if isinstance(node, ast.Delete):
        deleted_tests = [
            t.id for t in node.targets if isinstance(t, ast.Name) and _is_test_name(t.id)
        ]
        return f"{deleted_tests[0]} is deleted, so it is not collected" if deleted_tests else ""
    targets = node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        name = last_name(target) if isinstance(target, ast.Name | ast.Attribute) else ""
        if name in _SWITCHES or (name == "pytestmark" and not _is_plain_mark(node)):
            return f"{name} decides which tests are collected"
    return ""


def _is_plain_mark(node: ast.AST) -> bool:
    """Tell whether marks are spelled out as pytest.mark.NAME, so that the other rules see them."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return all(isinstance(call.func, ast.Attribute) for call in calls)


def _is_test_name(name: str) -> bool:
    return name.startswith(("test", "Test"))


def _find_constant_equality(node: ast.AST, _names: dict[str, str]) -> str:
    is_comparison = isinstance(node, ast.FunctionDef) and node.name in {"__eq__", "__bool__"}
    if is_comparison and isinstance(node, ast.FunctionDef):
        last = node.body[-1]
        if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant):
            return f"{node.name} answers {last.value.value!r} to everything"
    return ""


def _find_example_settings(node: ast.AST, _names: dict[str, str]) -> str:
    if isinstance(node, ast.Call) and last_name(node) in {"settings", "register_profile"}:
        settings = [
            k for k in node.keywords if k.arg in {"max_examples", "phases", "suppress_health_check"}
        ]
        return f"{settings[0].arg} decides how hard properties are tried" if settings else ""
    return ""


_EVERYWHERE: tuple[tuple[Pick, str, Severity], ...] = ((_find_hook, "test-hook", _DANGER),)
_PICKS: tuple[tuple[Pick, str, Severity], ...] = (
    (_find_skip, "skip-added", _DANGER),
    (_find_hook, "test-hook", _DANGER),
    (_find_report_mention, "test-hook", _DANGER),
    (_find_runner_access, "test-hook", _DANGER),
    (_find_star_import, "test-hook", _WARNING),
    (_find_exit, "exit-in-tests", _DANGER),
    (_find_patch, "code-replaced", _DANGER),
    (_find_collection_switch, "collection-changed", _DANGER),
    (_find_constant_equality, "equal-to-everything", _DANGER),
    (_find_example_settings, "properties-changed", _WARNING),
)
