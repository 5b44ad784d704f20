"""What added code can newly do is found on its line; what was there before is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.changes.findings import documents
from astra.changes.findings.examination import MORE, cap_findings, examine
from astra.changes.findings.source import Source, added_lines, lines_of
from astra.trusted.changes.evidence import Finding, Severity


def found_in(path: str, new: str, old: str | None = None, **more: str) -> set[tuple[str, int]]:
    source = Source(path=path, old=old, new=new, **more)
    return {(finding.rule, finding.line) for finding in examine([source])}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("subprocess.run(['ls'])", "runs-programs"),
        ("os.system('ls')", "runs-programs"),
        ("run = os.popen", "runs-programs"),
        ("from os import execv as go", "runs-programs"),
        ("s = socket.socket()", "opens-sockets"),
        ("httpx.get('https://example.com')", "reaches-network"),
        ("import urllib.request", "reaches-network"),
        ("open('x', 'w')", "writes-files"),
        ("open('x', mode=m)", "writes-files"),
        ("p.write_text('x')", "writes-files"),
        ("shutil.rmtree('/')", "writes-files"),
        ("p.open('a')", "writes-files"),
        ("eval('1')", "runs-text-as-code"),
        ("builtins.exec('1')", "runs-text-as-code"),
        ("__import__('os')", "imports-by-name"),
        ("importlib.import_module(name)", "imports-by-name"),
        ("sys.path.insert(0, '.')", "imports-by-name"),
        ("import ctypes", "calls-native-code"),
        ("pickle.loads(data)", "reads-pickles"),
        ("key = os.environ['KEY']", "reads-environment"),
        ("os.getenv('KEY')", "reads-environment"),
        ("open('/home/me/.ssh/id_rsa')", "names-secret-file"),
        ("getattr(os, 'sys' + 'tem')('ls')", "reflects"),
        ("().__class__.__bases__", "reflects"),
        ("from subprocess import run as harmless", "runs-programs"),
    ],
)
def test_what_an_added_python_line_can_do_is_found_on_its_line(line: str, rule: str) -> None:
    before = "import os, sys, shutil, builtins, importlib\nx = 1\n"
    assert (rule, 3) in found_in("src/a.py", before + line + "\n", before)


@pytest.mark.parametrize("line", ["open('x')", "open('x', 'rb')", "a.replace('x', 'y')", "x.run()"])
def test_reading_and_ordinary_calls_are_no_findings(line: str) -> None:
    assert found_in("src/a.py", f"{line}\n", "") == set()


def test_lines_that_were_there_before_are_not_reported() -> None:
    old = "import os\nos.system('ls')\n"
    assert found_in("src/a.py", old + "x = 1\n", old) == set()


def test_a_call_that_begins_on_an_old_line_is_reported_where_it_is_new() -> None:
    old = "import subprocess\nsubprocess.run(\n    ['ls'],\n)\n"
    new = old.replace("['ls']", "['rm']")
    assert ("runs-programs", 3) in found_in("src/a.py", new, old)


def test_effects_in_tests_are_only_noted() -> None:
    source = Source(path="tests/test_a.py", old="", new="import subprocess\n", is_test=True)
    (finding,) = [f for f in examine([source]) if f.rule == "runs-programs"]
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    ("path", "line", "rule"),
    [
        ("a.js", "const { exec } = require('child_process')", "runs-programs"),
        ("a.ts", "import net from 'node:net'", "opens-sockets"),
        ("a.tsx", "await fetch('https://example.com')", "reaches-network"),
        ("a.mjs", "fs.writeFileSync('x', 'y')", "writes-files"),
        ("a.js", "new Function('return 1')()", "runs-text-as-code"),
        ("a.js", "require(name)", "imports-by-name"),
        ("a.js", "process.env.TOKEN", "reads-environment"),
        ("a.sh", "curl https://example.com | sh", "runs-text-as-code"),
        ("a.sh", "wget x", "reaches-network"),
        ("a.sh", "sudo true", "becomes-root"),
        ("a.sh", "echo aGk= | base64 -d", "hides-text"),
        ("a.sh", "npm install left-pad", "installs-software"),
    ],
)
def test_what_added_scripts_can_do_is_found(path: str, line: str, rule: str) -> None:
    assert (rule, 1) in found_in(path, f"{line}\n", "")


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (".github/workflows/ci.yml", "ci-changed"),
        (".gitlab-ci.yml", "ci-changed"),
        (".husky/pre-commit", "hook-changed"),
        (".pre-commit-config.yaml", "hook-changed"),
        (".gitattributes", "hook-changed"),
        ("src/evil.pth", "hook-changed"),
        ("Dockerfile", "build-changed"),
        ("ops/Makefile", "build-changed"),
        ("poetry.lock", "lock-changed"),
        ("web/package-lock.json", "lock-changed"),
        ("Cargo.toml", "dependencies-changed"),
        ("go.mod", "dependencies-changed"),
        (".npmrc", "registry-changed"),
    ],
)
def test_files_through_which_other_code_comes_in_are_found(path: str, rule: str) -> None:
    assert rule in {name for name, _line in found_in(path, "x\n", "y\n")}


@pytest.mark.parametrize(
    ("path", "old", "new", "rule", "line"),
    [
        (
            "pyproject.toml",
            '[project]\ndependencies = ["a>=1"]\n',
            '[project]\ndependencies = [\n"a>=1",\n"evil==1",\n]\n',
            "dependency-added",
            4,
        ),
        ("requirements.txt", "a==1\n", "a==2\n", "dependency-changed", 1),
        ("package.json", "{}", '{"dependencies": {"evil": "*"}}', "dependency-added", 1),
        ("package.json", "{}", '{"scripts": {"postinstall": "x"}}', "install-script", 1),
        ("Cargo.toml", "", '[dependencies]\nevil = "1"\n', "dependency-added", 2),
    ],
)
def test_new_dependencies_are_named(path: str, old: str, new: str, rule: str, line: int) -> None:
    assert (rule, line) in found_in(path, new, old)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("x = 'a\u202eb'", "turns-reading-direction"),
        ("x\u200b = 1", "invisible-character"),
        ("p\u0430ssword = 1", "mixed-alphabets"),
        ("x = '\x1b[2J'", "control-characters"),
        ("x" * 501, "very-long-line"),
        ("x = 1" + " " * 150 + "; evil()", "text-far-right"),
        ("token = 'ghp_" + "a1B2" * 10 + "'", "holds-secret"),
        ("-----BEGIN PRIVATE KEY-----" + "A" * 64, "holds-secret"),
    ],
)
def test_text_that_misleads_is_found_in_any_language(line: str, rule: str) -> None:
    for path in ("notes.md", "src/a.py"):
        assert (rule, 2) in found_in(path, f"fine\n{line}\n", "fine\n")


def test_a_secret_is_never_repeated_in_its_finding() -> None:
    token = "ghp_" + "a1B2" * 10
    source = Source(path="a.py", old="", new=f"token = '{token}'; eval('{token}')\n")
    assert token not in str([finding.as_dict() for finding in examine([source])])


def test_hostile_text_is_escaped_in_messages_and_excerpts() -> None:
    source = Source(path="a.js", old="", new="eval('\x1b[2J\u202e')\n")
    for finding in examine([source]):
        assert (finding.message + finding.excerpt).isprintable()


def test_modes_links_and_unreadable_files_are_found() -> None:
    assert ("becomes-executable", 0) in found_in("a", "x\n", "x\n", new_mode="100755")
    link = Source(path="a", new_mode="120000", old_mode="100644")
    assert "leads-elsewhere" in {finding.rule for finding in examine([link])}
    binary = Source(path="a", problem="is not UTF-8 text; not looked at")
    assert [finding.rule for finding in examine([binary])] == ["not-text"]


def test_python_that_is_read_in_another_encoding_is_found() -> None:
    hidden = "# -*- coding: utf-7 -*-\n# +AAo-import os\n"
    assert ("other-encoding", 1) in found_in("src/a.py", hidden, "")
    assert found_in("src/a.py", "# -*- coding: UTF_8 -*-\nx = 1\n", "") == set()


def test_python_that_cannot_be_taken_apart_is_said() -> None:
    assert ("not-examined", 0) in found_in("a.py", "-" * 20_000 + "1\n", "")


def test_a_rule_that_fails_is_a_finding_and_silences_no_other() -> None:
    deep = "assert " + "(" * 80 + "x" + ")" * 80
    chain = "x" + ".y" * 3000
    new = f"def test_a():\n    assert {chain} == 1\n    {deep}\n"
    source = Source(path="tests/test_a.py", old="def test_a():\n    pass\n", new=new, is_test=True)
    other = Source(path="b.js", old="", new="eval('1')\n")
    rules = {finding.rule for finding in examine([source, other])}
    assert {"not-examined", "runs-text-as-code"} <= rules


def test_many_findings_are_cut_and_the_rest_is_counted_without_hiding_another_kind() -> None:
    flood = [
        Finding(rule="flood", severity=Severity.DANGER, path=f"{n}.py", line=1, message="x")
        for n in range(400)
    ]
    last = Finding(rule="rare", severity=Severity.DANGER, path="zzz.py", line=9, message="y")
    shown = cap_findings([*flood, last], most=300)
    assert len(shown) == 301
    assert (shown[-1].rule, shown[-1].severity) == (MORE, Severity.DANGER)
    assert "101 more" in shown[-1].message


def test_findings_of_one_rule_in_one_file_do_not_fill_the_list() -> None:
    flood = [
        Finding(rule="flood", severity=Severity.DANGER, path="a.py", line=n, message="x")
        for n in range(5000)
    ]
    rare = Finding(rule="rare", severity=Severity.INFO, path="z.py", message="y")
    shown = cap_findings([*flood, rare])
    assert rare in shown
    assert "4980 more" in shown[-1].message


@pytest.mark.parametrize(
    ("language", "text", "line"),
    [
        ("json", '{"a": 1,}', 1),
        ("json", '{"a": 1, "a": 2}', 0),
        ("json", "NaN", 0),
        ("json", "[" * 300 + "]" * 300, 0),
        ("toml", "a = 1\na = 2\n", 2),
        ("toml", "a = \n", 1),
        ("toml", "a = " + "[" * 300 + "]" * 300, 0),
        ("yaml", "a: [1\n", 2),
        ("yaml", "a: !!python/object/apply:os.system ['x']\n", 1),
        ("yaml", "[" * 300 + "]" * 300, 1),
    ],
)
def test_documents_that_cannot_be_read_are_told_with_their_line(
    language: str, text: str, line: int
) -> None:
    problem = documents.find_problem(language, text)
    assert problem is not None
    assert problem.line == line


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("json", '\ufeff{"a": [1, 2]}'),
        ("toml", "a = 1\n[b]\nc = []\n"),
        ("yaml", "a: &x [1]\nb: *x\n"),
    ],
)
def test_documents_that_can_be_read_are_fine(language: str, text: str) -> None:
    assert documents.find_problem(language, text) is None


def test_aliases_of_aliases_are_scanned_and_never_built() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
    )
    assert documents.find_problem("yaml", bomb) is None


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_old_lines_and_added_lines_make_up_the_new_text(old: list[str], new: list[str]) -> None:
    added = added_lines(old, new)
    kept = [line for number, line in enumerate(new, start=1) if number not in added]
    remaining = iter(old)
    assert all(line in remaining for line in kept), "kept lines are old lines, in order"


@given(st.text(alphabet="ab\r\n\x0b\x0c\u2028 ", max_size=40))
def test_lines_are_numbered_as_python_numbers_them(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert len(lines_of(text)) in {lines, lines + 1}
