"""Programs and grammars of others: ruff for Python, tree-sitter for scripts, bash for shell.

They read hostile text with native code, which is why all of this happens in a box. Whatever the
text says to them (`noqa`, `ruff: disable`) is ignored.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from astra.changes.findings.documents import Problem
from astra.changes.findings.source import Source
from astra.changes.findings.syntax import syntax_finding
from astra.trusted.changes.evidence import Finding, Severity

RUFF_OPTIONS = (
    *("check", "--isolated", "--no-cache", "--no-fix", "--ignore-noqa", "--exit-zero", "--quiet"),
    *("--target-version", "py315", "--output-format", "json-lines"),
)
SYNTAX_ONLY, WITH_SAFETY = "E9", "E9,S"
_SYNTAX = frozenset({"invalid-syntax", "E902", "E999", None})
# Said better by our own rules, or by every use of a program or an assertion.
_UNSAID = frozenset({"S101", "S404", "S603", "S607"})
_GRAVE = re.compile(r"S(?:102|30[127]|506|60[2459]|61[24]|70[124])")
_PLACES = re.compile(r"(?:.*/)?(\d+)\.py[iw]?")
_SHELL_LINE = re.compile(r"line (\d+): (.*)")
_LONGEST_ANSWER = 16 * 1024 * 1024
_NO_PROBLEMS = 3


class Ruff:
    """Started first, so that it works while the rules do; asked last."""

    def __init__(self, program: str, folder: Path, options: list[str]) -> None:
        self._output = _open_scratch_file()
        self._pid = 0
        if options:
            os.chdir(folder)
            actions = [
                (os.POSIX_SPAWN_DUP2, self._output, 1),
                (os.POSIX_SPAWN_DUP2, self._output, 2),
            ]
            self._pid = os.posix_spawn(program, [program, *options], {}, file_actions=actions)

    def findings(self, sources: Mapping[int, Source]) -> list[Finding]:
        if not self._pid:
            return []
        _pid, status = os.waitpid(self._pid, 0)
        answer = os.pread(self._output, _LONGEST_ANSWER, 0)
        if status:
            return [
                _make_unscanned_finding(
                    "ruff failed on this change, so its rules and Python's syntax are open"
                )
            ]
        return list(ruff_findings(answer, sources))


def ruff_findings(answer: bytes, sources: Mapping[int, Source]) -> Iterator[Finding]:
    broken: dict[int, int] = {}
    for line in answer.splitlines():
        diagnostic: dict[str, Any] = json.loads(line)
        place = _PLACES.fullmatch(diagnostic["filename"])
        if place is None:
            continue
        number, row = int(place[1]), int(diagnostic["location"]["row"])
        source = sources[number]
        if diagnostic["code"] in _SYNTAX:
            broken[number] = broken.get(number, 0) + 1
            if broken[number] <= _NO_PROBLEMS:
                problem = Problem(line=row, message=str(diagnostic["message"]))
                was_broken = source.old is not None and source.old_tree is None
                yield syntax_finding(source, problem, known=was_broken)
        elif row in source.added_numbers and diagnostic["code"] not in _UNSAID:
            yield _make_safety_finding(source, diagnostic, row)


def check_script(language: str, text: str) -> Problem | None:
    """Find the first place that the grammar cannot read."""
    from tree_sitter import Language, Parser

    grammar = Language(_load_grammar(language)())  # pyright: ignore[reportDeprecated]
    tree = Parser(grammar).parse(text.encode())
    node = tree.root_node
    while node.has_error and not (node.is_error or node.is_missing):
        node = next((child for child in node.children if child.has_error or child.is_missing), None)
        if node is None:
            return Problem(line=0, message="something is missing")
    if not (node.is_error or node.is_missing):
        return None
    message = f"{node.type} is missing" if node.is_missing else "unexpected text"
    return Problem(line=node.start_point[0] + 1, message=message)


def check_shell(path: Path) -> Problem | None:
    """Have bash read the script without running any of it."""
    program = next((p for p in ("/bin/bash", "/usr/bin/bash", "/bin/sh") if Path(p).exists()), None)
    if program is None:
        return None
    output = _open_scratch_file()
    options = ["-O", "extglob"] if program.endswith("bash") else []
    actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    command = [program, *options, "-n", "--", str(path)]
    _pid, status = os.waitpid(os.posix_spawn(program, command, {}, file_actions=actions), 0)
    printed_text = os.pread(output, 4096, 0).decode("utf-8", "replace")
    os.close(output)
    match = _SHELL_LINE.search(printed_text)
    if not status:
        return None
    return Problem(
        line=int(match[1]) if match else 0, message=match[2] if match else printed_text[:200]
    )


def _open_scratch_file() -> int:
    """Open a file without a name for what a program prints; a box may refuse memfd."""
    return os.open("/tmp", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)  # noqa: S108 - the box's own


def _make_unscanned_finding(why: str) -> Finding:
    return Finding(rule="not-scanned", severity=Severity.DANGER, path="", message=why)


def _make_safety_finding(source: Source, said: dict[str, Any], row: int) -> Finding:
    severity = Severity.DANGER if _GRAVE.fullmatch(said["code"]) else Severity.WARNING
    severity = Severity.INFO if source.is_test else severity
    return source.make_finding(f"ruff-{said['code']}", severity, row, str(said["message"]))


def _load_grammar(language: str) -> Callable[[], Any]:
    if language == "javascript":
        from tree_sitter_javascript import language as javascript

        return javascript
    import tree_sitter_typescript

    kind = "language_tsx" if language == "tsx" else "language_typescript"
    return getattr(tree_sitter_typescript, kind)
