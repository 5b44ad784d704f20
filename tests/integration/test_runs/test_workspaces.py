"""Checkouts are made once, serve as bases for other commits, and do not pile up."""

import subprocess
import threading
from typing import Any

from astra.adapters.workspaces import Workspaces
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.policy.secrets import SecretRules
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.ports import Edit


def checkouts(target: Any) -> set[str]:
    folder = target.root.path / "var/workspaces" / boxes.read_boot_id() / SecretRules().digest
    return {path.name for path in folder.iterdir() if path.is_dir()}


def test_one_checkout_serves_the_commits_near_it(target: Any, base: str) -> None:
    other = target.commit({"shop.py": "x = 1\n", "new/deep/file": "y\n"})
    with target.workspaces.open(base) as files:
        assert files.edits == ()
    with target.workspaces.open(other) as files:
        assert files.base.name == base
        assert {edit.path: edit.data for edit in files.edits} == {
            b"shop.py": b"x = 1\n",
            b"new/deep/file": b"y\n",
        }
    assert checkouts(target) == {base}


def test_the_tests_of_another_commit_replace_only_the_test_paths(target: Any, base: str) -> None:
    change = target.commit({"shop.py": "x = 1\n", "tests/test_shop.py": None, "tests/new.py": ""})
    with target.workspaces.open(base, tests_from=change, test_paths=("tests/",)) as files:
        assert set(files.edits) == {
            Edit(path=b"tests/test_shop.py"),
            Edit(path=b"tests/new.py", data=b""),
        }


def test_tests_are_exchanged_wherever_they_stand_and_so_are_the_runners_settings(
    target: Any, base: str
) -> None:
    tests = {"conftest.py": "", "src/test_more.py": "", "pytest.ini": "[pytest]\n"}
    change = target.commit({**tests, "shop.py": "x = 1\n", "src/testing/fakes.py": ""})
    with target.workspaces.open(base, tests_from=change, test_paths=("tests/",)) as files:
        assert {edit.path.decode() for edit in files.edits} == set(tests)


def test_only_the_most_recently_used_checkouts_are_kept_and_never_one_in_use(
    target: Any, base: str
) -> None:
    folder = target.root.path / "var/workspaces"
    small = Workspaces(target.root.path / "var/git", folder, kept=2, most_edits=0)
    commits = [base, *(target.commit({"shop.py": f"x = {n}\n"}) for n in range(4))]
    with small.open(commits[0]):
        for commit in commits[1:]:
            small.warm(commit)
        assert commits[0] in checkouts(target)
        assert commits[-1] in checkouts(target)
        assert len(checkouts(target)) == 3
    small.warm(target.commit({"shop.py": "x = 9\n"}))
    assert len(checkouts(target)) == 2
    small.close()


def test_what_an_earlier_daemon_or_boot_left_is_removed(target: Any, base: str) -> None:
    target.workspaces.warm(base)
    folder = target.root.path / "var/workspaces"
    here = f"{boxes.read_boot_id()}/{SecretRules().digest}"
    for left in ("another-boot/x", "other-rules/x", f"{here}/.partial-1/x", f"{here}/.run-1/files"):
        (folder / left).mkdir(parents=True)
    Workspaces(target.root.path / "var/git", folder).close()
    assert {path.name for path in folder.iterdir()} == {boxes.read_boot_id()}
    assert checkouts(target) == {base}


def test_many_threads_make_one_checkout(target: Any, base: str) -> None:
    seen: list[str] = []

    def use() -> None:
        with target.workspaces.open(base) as files:
            seen.append(files.base.name)

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [base] * 6
    assert checkouts(target) == {base}


def test_a_file_that_becomes_a_folder_or_a_link_and_back(target: Any, base: str) -> None:
    """The same two commits, each the base of the other."""
    (target.work / "way").symlink_to("shop.py")
    first = target.commit({"thing": "a file\n", "gone/only": "x\n"})
    (target.work / "way").unlink()
    second = target.commit({"thing": None, "gone/only": None})
    second = target.commit({"thing/inner": "b\n", "way/inner": "c\n"})
    listing = "sh -c 'find . -mindepth 1 | sort; cat thing* thing/* way/* 2>/dev/null'"
    target.workspaces.warm(first)
    assert "./thing/inner" in target.test(second, command=listing).output_tail
    assert "./gone" not in target.test(second, command=listing).output_tail
    fresh = Workspaces(target.root.path / "var/git", target.root.path / "var/fresh")
    target.workspaces, old = fresh, target.workspaces
    fresh.warm(second)
    shown = target.test(first, command=listing).output_tail
    assert "./gone/only" in shown
    assert "a file" in shown
    target.workspaces = old
    fresh.close()


def test_a_large_file_that_the_target_has_keeps_no_test_from_running(target: Any) -> None:
    target.commit({"huge": b"x" * (40 * 1024 * 1024)})
    commit = target.commit({"shop.py": "x = 1\n"})
    report = target.test(commit, command="sh -c 'test -s huge && echo it is there'")
    assert report.output_tail == "it is there\n"


def test_a_file_that_is_too_large_to_check_out_is_refused_in_words(target: Any) -> None:
    commit = target.commit({"huge": b"x" * 2048})
    folder = target.root.path / "var/other-workspaces"
    small = Workspaces(target.root.path / "var/git", folder, largest=1024)
    target.workspaces, before = small, target.workspaces
    report = target.test(commit, command="true")
    assert report.verdict == "never_ran"
    assert "2048 bytes, more than 1024" in report.reason
    target.workspaces = before
    small.close()


def test_the_history_of_a_real_repository_is_tested_commit_by_commit(target: Any) -> None:
    """A small library grows by real commits: a merge, a rename, a revert, an executable."""
    git = target.git
    first = target.commit({"lib/a.sh": "echo one\n", "check.sh": ". lib/a.sh\n"})
    git("checkout", "-q", "-b", "side")
    target.commit({"lib/b.sh": "echo two\n"})
    git("checkout", "-q", "main")
    target.commit({"README": "hello\n"})
    git("merge", "-q", "--no-ff", "-m", "merge", "side")
    git("mv", "lib", "library")
    renamed = target.commit({"check.sh": ". library/a.sh; . library/b.sh\n"})
    git("revert", "--no-edit", "HEAD")
    back = target.commit({})
    outputs = [target.test(c, command="sh check.sh").output_tail for c in (first, renamed, back)]
    assert outputs == ["one\n", "one\ntwo\n", "one\n"]


def test_a_workspace_is_ready_without_a_work_tree_of_git(target: Any, base: str) -> None:
    """Planted attributes, hooks and filters of the repository have no say."""
    git_dir = target.root.path / "var/git"
    (git_dir / "hooks").mkdir(exist_ok=True)
    hook = git_dir / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {target.root.path}/ran\n")
    hook.chmod(0o755)
    subprocess.run(
        ["git", "-C", git_dir, "config", "filter.evil.smudge", f"touch {target.root.path}/ran"],
        check=True,
    )
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text("* filter=evil\n")
    assert target.test(base).verdict == "passed"
    assert not (target.root.path / "ran").exists()


def test_settings_of_the_tests_come_with_the_tests_of_the_base(target: Any, base: str) -> None:
    """A change that leaves tests out by a setting is run with the setting as it was."""
    left_out = '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = "--ignore=tests"\n'
    commit = target.commit({"pyproject.toml": left_out})
    assert target.test(commit).verdict is TestVerdict.NO_TESTS
    assert target.test(commit, tests_from=base).verdict is TestVerdict.PASSED
