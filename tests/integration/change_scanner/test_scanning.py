"""A whole change is looked at in one box, in every language, and nothing is taken on trust."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.change_scanner import ChangeScanner
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.changes.files import ChangedFile
from astra.trusted.ledger import views
from astra.trusted.settings.configuration import Target

STORY = {"actor": "agent", "correlation": "cor_0123456789abcdef"}
REPOSITORY = Path(__file__).parents[3]


def scan(scanner: ChangeScanner, *files: ChangedFile) -> tuple[Finding, ...]:
    return scanner.scan(files, test_paths=("tests/",), **STORY)


def added(path: str, new: bytes) -> ChangedFile:
    return ChangedFile(path=path, new=new, new_mode="100644")


BROKEN = (
    added("a.py", b"def (:\n"),
    added("b.js", b"function (\n"),
    added("c.ts", b"let x: number = ;\n"),
    added("d.tsx", b"const x = <a>;\n"),
    added("e.json", b"{\n"),
    added("f.toml", b"a = \n"),
    added("g.yml", b"a: [1\n"),
    added("h.sh", b"if true; then\n"),
    added("bin/tool", b"#!/usr/bin/env python3\ndef (:\n"),
)
WHOLE = (
    added("a.py", b"x = 1\n"),
    added("b.js", b"export const f = (a) => a ?? 1;\n"),
    added("c.ts", b"type A = { a: number };\n"),
    added("d.tsx", b"const x = <a href='b'>c</a>;\n"),
    added("e.json", b'{"a": [1]}\n'),
    added("tsconfig.json", b"{ // a comment\n}\n"),
    added("f.toml", b"a = 1\n"),
    added("g.yml", b"a: [1]\n"),
    added("h.sh", b"if true; then echo $((1 + 1)); fi\n"),
)


def test_a_file_that_does_not_parse_is_found_in_each_language(scanner: ChangeScanner) -> None:
    broken = {f.path for f in scan(scanner, *BROKEN) if f.rule == "syntax"}
    assert broken == {file.path for file in BROKEN}


def test_files_that_parse_give_no_syntax_finding(scanner: ChangeScanner) -> None:
    assert [f for f in scan(scanner, *WHOLE) if f.rule in {"syntax", "not-examined"}] == []


def test_the_quick_look_finds_the_same_syntax_errors(scanner: ChangeScanner) -> None:
    for files in (BROKEN, BROKEN[:1], WHOLE, WHOLE[:1], ()):
        full = {(f.path, f.line) for f in scan(scanner, *files) if f.rule == "syntax"}
        quick = scanner.syntax(files, **STORY)
        assert {(f.path, f.line) for f in quick} == full


def test_a_file_that_was_broken_before_weighs_less(scanner: ChangeScanner) -> None:
    for path, old in (("a.py", b"def (:\n"), ("a.json", b"{\n")):
        file = ChangedFile(path=path, old=old, new=old + b"\n", new_mode="100644")
        found = [f for f in scan(scanner, file) if f.rule == "syntax"]
        assert {f.severity for f in found} == {Severity.WARNING}


def test_the_established_scanner_speaks_of_added_lines_only_and_obeys_no_comment(
    scanner: ChangeScanner,
) -> None:
    old = b"import subprocess\nsubprocess.run('a', shell=True)\n"
    new = old + (
        b"# ruff: noqa\n"
        b"subprocess.run('b', shell=True)  # noqa: S602\n"
        b"subprocess.run('c', shell=True)  # nosec # ruff: ignore[S602]\n"
    )
    file = ChangedFile(path="a.py", old=old, new=new, old_mode="100644", new_mode="100644")
    lines = [f.line for f in scan(scanner, file) if f.rule == "ruff-S602"]
    assert lines == [4, 5]


def test_configuration_in_the_change_does_not_configure_the_scanners(
    scanner: ChangeScanner,
) -> None:
    files = (
        added("ruff.toml", b'exclude = ["*"]\n'),
        added("pyproject.toml", b'[tool.ruff]\nexclude = ["*"]\n'),
        added(".editorconfig", b"root = true\n"),
        added("a.py", b"eval('1')\n"),
    )
    assert "ruff-S307" in {finding.rule for finding in scan(scanner, *files)}


def test_a_whole_change_is_one_box(sandbox: Any, scanner: ChangeScanner) -> None:
    scan(scanner, *BROKEN, *WHOLE)
    assert len(views.records(sandbox.ledger, type_="box_ended")) == 1


@pytest.mark.parametrize(
    "file",
    [
        ChangedFile(path="gone.py", old=b"x = 1\n", old_mode="100644"),
        added("empty.py", b""),
        added("binary.bin", bytes(range(256))),
        added("latin.py", "x = 'é'\n".encode("latin-1")),
        added("crlf.py", b"x = 1\r\ny = 2\r\n"),
        added("lone.py", b"x = 1\ry = 2\r"),
        added("nul.py", b"x = 1\0\n"),
        added("huge.txt", b"x" * 3_000_000),
        ChangedFile(path="link", new=b"/etc/passwd", new_mode="120000"),
        ChangedFile(path="sub", new=b"", new_mode="160000"),
        added("-rf --config=x.py", b"x = 1\n"),
        added("a\nb\x1b[2J.py", b"def (:\n"),
        added("../../../etc/cron.d/x.py", b"x = 1\n"),
    ],
    ids=lambda file: ascii(file.path),
)
def test_odd_files_are_looked_at_without_failing(scanner: ChangeScanner, file: ChangedFile) -> None:
    found = scan(scanner, file)
    assert "not-scanned" not in {finding.rule for finding in found}, found
    assert all(f.message.isprintable() and f.excerpt.isprintable() for f in found)


def test_a_scan_that_is_late_is_a_danger(scanner: ChangeScanner) -> None:
    late = replace(scanner, seconds=0.001)
    (found,) = scan(late, added("a.py", b"x = 1\n"))
    assert (found.rule, found.severity) == ("not-scanned", Severity.DANGER)


def test_what_is_too_much_to_look_at_is_said(scanner: ChangeScanner) -> None:
    found = scan(
        replace(scanner, most_files=1), added("a.py", b"x = 1\n"), added("b.py", b"eval('1')\n")
    )
    assert [(f.rule, f.severity) for f in found] == [("not-scanned", Severity.DANGER)]
    assert "1 of 2 files" in found[0].message


def test_every_commit_of_a_real_history_is_scanned_without_a_failure(
    scanner: ChangeScanner,
) -> None:
    """The last commits of this project's own history, whatever they hold."""
    commits = _git("rev-list", "--max-count=12", "HEAD").decode().split()
    if len(commits) < 2:
        pytest.skip("this copy has no history")
    for commit in commits[:-1]:
        files = list(_changed(commit))
        if len(files) > Target.max_files:
            continue  # a change of this size is not admitted, so it is never scanned
        found = scan(scanner, *files)
        failed = [f for f in found if f.rule in {"not-scanned", "not-examined", "syntax"}]
        failed = [f for f in failed if f.severity is not Severity.INFO]  # no rule reads a Makefile
        assert failed == [], commit


def _changed(commit: str) -> Iterator[ChangedFile]:
    raw = _git("diff-tree", "-r", "-z", "--no-renames", f"{commit}^1", commit).split(b"\0")
    for facts, path in zip(raw[::2], raw[1::2], strict=False):
        old_mode, new_mode, old, new, _status = facts.decode().lstrip(":").split()
        yield ChangedFile(
            path=path.decode(),
            old_mode=None if old_mode == "000000" else old_mode,
            new_mode=None if new_mode == "000000" else new_mode,
            old=None if old_mode == "000000" else _git("cat-file", "blob", old),
            new=None if new_mode == "000000" else _git("cat-file", "blob", new),
        )


def _git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", REPOSITORY, *words], capture_output=True, check=False)
    return done.stdout
