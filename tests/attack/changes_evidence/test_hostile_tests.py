"""Tests that attack the machine, the base checkout, or their own results."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.workspaces import Workspaces
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.sandbox import boxes, workspace

TEST = "tests/test_shop.py"


def digest(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Describe everything below a folder: kind, mode, owner and bytes."""
    found: dict[str, tuple[int, int, str]] = {}
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(top) / name
            facts = path.lstat()
            content = b""
            if stat.S_ISREG(facts.st_mode):
                content = path.read_bytes()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.fsencode(path.readlink())
            key = str(path.relative_to(folder))
            found[key] = (facts.st_mode, facts.st_uid, hashlib.sha256(content).hexdigest())
    return found


def checkouts(target: Any) -> Path:
    return target.root.path / "var/workspaces"


VANDALISM = """
import os, shutil, pathlib, subprocess

def test_vandalism():
    here = pathlib.Path.cwd()
    for path in list(here.rglob("*")):
        if path.is_file() and path.name != "test_shop.py":
            with path.open("r+b") as file:
                file.truncate(0)
                file.write(b"owned")
            os.chmod(path, 0o777)
    os.link("shop.py", "hard")
    open("hard", "w").write("owned through a hard link")
    os.symlink("/", "root")
    os.symlink("../../../../../..", "up")
    for trap in ("shop.py", "pyproject.toml"):
        os.unlink(trap)
        os.symlink("/etc/passwd", trap)
    try:
        os.mknod("device", 0o666 | 0o060000, os.makedev(254, 0))
        made = True
    except OSError:
        made = False
    assert not made
    os.mkfifo("pipe")
    for name in os.listdir(here):
        subprocess.run(["rm", "-rf", name])
"""


def test_tests_that_wreck_everything_leave_the_base_byte_for_byte(target: Any, base: str) -> None:
    assert target.test(base).verdict is TestVerdict.PASSED
    before = digest(checkouts(target))
    report = target.test(target.commit({TEST: VANDALISM}))
    assert report.verdict is TestVerdict.PASSED, report.output_tail
    assert digest(checkouts(target)) == before
    assert target.test(base).verdict is TestVerdict.PASSED


def test_where_there_is_no_overlay_a_copy_is_wrecked_instead(target: Any, base: str) -> None:
    git_dir = target.root.path / "var/git"
    target.workspaces.close()
    target.workspaces = Workspaces(git_dir, checkouts(target), copied=True)
    assert target.test(base).verdict is TestVerdict.PASSED
    before = digest(checkouts(target))
    closed = VANDALISM + "    os.makedirs('a/b/c')\n    os.chmod('a/b', 0)\n"
    report = target.test(target.commit({TEST: closed}))
    assert report.verdict is TestVerdict.PASSED, report.output_tail
    assert digest(checkouts(target)) == before, "the copy is removed too"


def test_what_a_box_nested_without_end_is_removed_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    left, precious = tmp_path / "left", tmp_path / "precious"
    precious.write_text("kept")
    left.mkdir()
    (left / "way").symlink_to(tmp_path)
    folder = os.open(left, os.O_DIRECTORY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    workspace.discard(left)
    assert not left.exists()
    assert precious.read_text() == "kept"


def test_what_one_run_writes_the_next_one_does_not_see(target: Any, base: str) -> None:
    text = "import os\n\n\ndef test_a():\n    assert not os.path.exists('left')\n"
    commit = target.commit({TEST: f"{text}    open('left', 'w')\n"})
    for _ in range(2):
        assert target.test(commit).verdict is TestVerdict.PASSED


def test_tests_see_neither_the_data_root_nor_the_network_nor_a_writable_system(
    target: Any, base: str
) -> None:
    text = f"""
import os, socket, pytest

def test_a():
    assert not os.path.exists({str(target.root.path / "var")!r})
    with pytest.raises(OSError):
        socket.create_connection(("93.184.216.34", 80), timeout=1)
    for place in ("/usr/x", "/etc/x", "/x"):
        with pytest.raises(OSError):
            open(place, "w")
    assert os.getuid() != 0
"""
    report = target.test(target.commit({TEST: text}))
    assert report.verdict is TestVerdict.PASSED, report.output_tail


def test_tests_that_hang_are_timed_out(target: Any, base: str) -> None:
    commit = target.commit({TEST: "def test_a():\n    while True:\n        pass\n"})
    report = target.test(commit, wall_seconds=4)
    assert report.verdict is TestVerdict.TIMED_OUT
    assert boxes.list_registered(target.root.path) == ([], [])


def test_daemons_that_tests_leave_end_with_the_run(target: Any, base: str) -> None:
    text = """
import os, subprocess

def test_a():
    subprocess.Popen(["setsid", "sh", "-c", "sleep 600"], stdout=subprocess.DEVNULL)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "600"])
        os._exit(0)
"""
    assert target.test(target.commit({TEST: text})).verdict is TestVerdict.PASSED
    assert boxes.list_registered(target.root.path) == ([], [])


def test_a_test_that_prints_without_end_is_ended_and_shown_in_part(target: Any, base: str) -> None:
    text = "import os\n\n\ndef test_a():\n    while True:\n        os.write(1, b'x' * 65536)\n"
    report = target.test(target.commit({TEST: text}), output_bytes=4_000_000, words="-s")
    assert report.verdict is TestVerdict.KILLED
    assert sum(map(len, target.shown)) < 1_100_000
    assert len(report.output_tail) <= 8_000


def test_a_fork_bomb_stays_in_its_box(target: Any, base: str) -> None:
    text = "import os\n\n\ndef test_a():\n    while True:\n        os.fork()\n"
    report = target.test(target.commit({TEST: text}), wall_seconds=6, processes=40)
    assert report.verdict is not TestVerdict.PASSED
    assert boxes.list_registered(target.root.path) == ([], [])


def test_filling_the_workspace_hits_its_bound_and_not_the_disk(target: Any, base: str) -> None:
    text = """
import pytest

def test_a():
    with pytest.raises(OSError):
        for number in range(100):
            with open(f"big{number}", "wb") as file:
                for _ in range(64):
                    file.write(b"x" * 1_048_576)
"""
    report = target.test(target.commit({TEST: text}))
    assert report.verdict is TestVerdict.PASSED, report.output_tail


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("os._exit(0)", TestVerdict.UNKNOWN),
        ("os._exit(1)", TestVerdict.FAILED),
        ("os.kill(os.getpid(), 9)", TestVerdict.FAILED),
        ("sys.exit(0)", TestVerdict.FAILED),
        ("raise KeyboardInterrupt", TestVerdict.FAILED),
    ],
)
def test_a_test_that_ends_its_runner_has_not_passed(
    target: Any, base: str, ending: str, expected: TestVerdict
) -> None:
    text = f"import os, sys\n\n\ndef test_a():\n    {ending}\n"
    report = target.test(target.commit({TEST: text}))
    assert report.verdict is expected, report


@pytest.mark.parametrize(
    "trick",
    [
        "os.symlink('/etc/passwd', path)",
        "os.mkfifo(path)",
        "os.mkdir(path)",
        "os.symlink('junit.xml', path)",
        "open(path, 'wb').truncate(1 << 30)",
        "open(path, 'w').write('<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite/>')",
        "open(path, 'w').write('<testsuite>')",
        "open(path, 'wb').write(bytes(range(256)) * 9)",
        "open(path, 'w').write('<testsuite/>' * 2)",
        "open(path, 'w').write('<testsuite tests=\"7\"/>')",
    ],
)
def test_a_result_that_was_tampered_with_does_not_pass(target: Any, base: str, trick: str) -> None:
    """The run replaces its own report after pytest wrote it, and leaves with exit code 0."""
    text = f"""
import atexit, os, sys

def tamper():
    path = next(w for w in sys.argv if w.startswith("--junitxml=")).partition("=")[2]
    if os.path.lexists(path):
        os.unlink(path)
    {trick}
    os._exit(0)

atexit.register(tamper)
"""
    report = target.test(target.commit({"conftest.py": text}))
    assert report.verdict in {TestVerdict.UNKNOWN, TestVerdict.NO_TESTS}, report


def test_results_that_claim_both_are_not_a_pass(target: Any, base: str) -> None:
    both = (
        "<testsuite><testcase name='a' classname='x'/>"
        "<testcase name='a' classname='x'><failure/></testcase></testsuite>"
    )
    report = target.test(base, command=f'sh -c "echo \\"{both}\\" > {{junit}}"')
    assert report.verdict is TestVerdict.FAILED


def test_names_of_tests_cannot_become_options_or_hide_on_a_terminal(target: Any, base: str) -> None:
    evil = "<testsuite><testcase file='-p' classname='' name='evil'><failure/></testcase>"
    evil += "<testcase file='shop.py' name='&#x202e;&#x85;'><failure/></testcase></testsuite>"
    text = f"""
import atexit, os, sys

def forge():
    path = next(w for w in sys.argv if w.startswith("--junitxml=")).partition("=")[2]
    open(path, "w").write({evil!r})
    os._exit(1)

atexit.register(forge)
"""
    report = target.test(target.commit({"conftest.py": text}))
    assert report.verdict is TestVerdict.FAILED
    assert all(failure.name.isprintable() for failure in report.failures)


def test_deleting_the_tests_while_they_run_changes_nothing_for_the_next_run(
    target: Any, base: str
) -> None:
    text = "import os\nos.unlink(__file__)\n\n\ndef test_a():\n    assert 0\n"
    commit = target.commit({TEST: text})
    for _ in range(2):
        assert target.test(commit).verdict is TestVerdict.FAILED


def test_a_hostile_tree_is_refused_before_anything_is_written(target: Any, base: str) -> None:
    """A tree object that git itself would not write: `..` and `.git` as names."""
    blob = target.git("hash-object", "-w", "shop.py").strip()
    for name in (b"..", b".git", b".GIT"):
        entry = b"100644 " + name + b"\0" + bytes.fromhex(blob)
        (target.work / "tree").write_bytes(entry)
        tree = target.git("hash-object", "-t", "tree", "-w", "--literally", "tree").strip()
        commit = target.git("commit-tree", tree, "-m", "evil").strip()
        git_dir = str(target.root.path / "var/git")
        target.git("push", "--quiet", "--force", git_dir, f"{commit}:refs/heads/evil")
        report = target.test(commit)
        assert report.verdict is TestVerdict.NEVER_RAN
        assert "may not be written to a disk" in report.reason
