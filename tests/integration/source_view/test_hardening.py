"""A repository full of traps: the view shows its raw objects and runs nothing."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.source_view.search import Pattern
from astra.trusted.git.bounded_process import (
    BoundedCommand,
    ProgramMissing,
    ProgramOutputTooLarge,
    ProgramTimedOut,
    run_bounded,
)
from astra.trusted.git.git_batch import BorrowedObjects, ObjectReader, ObjectTooLarge
from astra.trusted.git.git_command import GitCommand, GitFailed, run_git
from astra.trusted.kernel.errors import AstraError, BadInput, NotFound


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when anybody runs it."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    program.chmod(0o755)
    return program


def use_everything(view: Any) -> None:
    view.list()
    view.read("a.py")
    view.search(Pattern(text="x"))
    view.search(Pattern(text="x", regex=True))


def test_attributes_in_the_tree_change_nothing(repository: Any) -> None:
    attributes = "*.py -diff -text export-ignore filter=evil working-tree-encoding=UTF-16\n"
    repository.commit(
        {".gitattributes": attributes, "a.py": "x = 1\n", "b/.gitattributes": "* binary"}
    )
    view = repository.view()
    assert [item.path for item in view.list().items] == [
        ".gitattributes",
        "a.py",
        "b/.gitattributes",
    ]
    assert view.read("a.py").text == "x = 1\n"
    assert len(view.search(Pattern(text="x = 1")).items) == 1


def test_attributes_and_filters_of_the_repository_change_nothing(
    repository: Any, trap: Path
) -> None:
    repository.commit({"a.py": "x = 1\n"})
    (repository.path / "info").mkdir(exist_ok=True)
    (repository.path / "info/attributes").write_text("* filter=evil diff=evil\n")
    for name in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.external"):
        repository.git("config", name, str(trap))
    view = repository.view()
    use_everything(view)
    assert view.read("a.py").text == "x = 1\n"
    assert not (trap.parent / "sprung").exists()


def test_programs_named_in_the_repositorys_configuration_are_not_run(
    repository: Any, trap: Path
) -> None:
    repository.commit({"a.py": "x = 1\n"})
    for name in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "pager.ls-tree",
        "pager.cat-file",
        "uploadpack.packObjectsHook",
    ):
        repository.git("config", name, str(trap))
    use_everything(repository.view())
    assert not (trap.parent / "sprung").exists()


def test_hooks_are_not_run(repository: Any, trap: Path) -> None:
    repository.commit({"a.py": "x = 1\n"})
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-checkout"):
        (repository.path / "hooks").mkdir(exist_ok=True)
        (repository.path / "hooks" / name).symlink_to(trap)
    use_everything(repository.view())
    commit = repository.git("rev-parse", "main")
    run_git(
        GitCommand(repository=repository.path, arguments=("update-ref", "refs/heads/other", commit))
    )
    assert not (trap.parent / "sprung").exists()
    repository.git("update-ref", "refs/heads/another", commit)
    assert (trap.parent / "sprung").exists(), "the trap itself works"


def test_a_missing_object_is_not_fetched_from_a_promised_remote(
    repository: Any, trap: Path
) -> None:
    commit = repository.commit({"a.py": "x = 1\n"})
    repository.git("config", "core.repositoryFormatVersion", "1")
    repository.git("config", "extensions.partialClone", "evil")
    repository.git("config", "remote.evil.promisor", "true")
    repository.git("config", "remote.evil.url", f"ext::{trap} %S")
    repository.git("config", "protocol.ext.allow", "always")
    reader = ObjectReader(repository.path)
    assert reader.read("1" * 40) is None
    assert reader.read(commit) is not None
    reader.close()
    assert not (trap.parent / "sprung").exists()
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("cat-file", "-e", "1" * 40)
    assert (trap.parent / "sprung").exists(), "the trap itself works"


def test_replace_refs_and_grafts_do_not_change_what_is_read(repository: Any) -> None:
    repository.commit({"a.py": "evil\n"}, branch="evil")
    commit = repository.commit({"a.py": "honest\n"})
    blobs = [repository.git("rev-parse", f"{branch}:a.py") for branch in ("main", "evil")]
    repository.git("replace", *blobs)
    repository.git("replace", "main", "evil")
    (repository.path / "info").mkdir(exist_ok=True)
    (repository.path / "info/grafts").write_text(
        f"{commit} {repository.git('rev-parse', 'evil')}\n"
    )
    assert repository.view().read("a.py").text == "honest\n"


@pytest.mark.parametrize("name", ["objects/info/alternates", "objects/info/http-alternates"])
def test_a_repository_that_borrows_objects_is_refused(
    make_repository: Callable[[], Any], name: str
) -> None:
    lender, repository = make_repository(), make_repository()
    private = lender.commit({"private.txt": "other people's code"})
    repository.commit({"a.py": "x\n"})
    view = repository.view()
    assert view.read("a.py").text == "x\n"
    (repository.path / name).write_text(f"{lender.path}/objects\n")
    with pytest.raises(BorrowedObjects):
        view.list(at=private)


def test_the_environment_of_the_caller_does_not_reach_git(
    repository: Any, trap: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit({"a.py": "x = 1\n"})
    (tmp_path / ".gitconfig").write_text(f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n")
    for name, value in {
        "HOME": str(tmp_path),
        "GIT_DIR": "/nonexistent",
        "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nonexistent",
        "GIT_PAGER": str(trap),
    }.items():
        monkeypatch.setenv(name, value)
    use_everything(repository.view())
    assert not (trap.parent / "sprung").exists()
    assert not (tmp_path / "trace").exists()


def test_a_tree_with_hostile_names_shows_none_of_them(repository: Any) -> None:
    blob = repository.git("hash-object", "-w", "--stdin", data=b"x")
    inner = repository.git("mktree", data=f"100644 blob {blob}\tpasswd\n".encode())
    entries = [f"100644 blob {blob}\tfine.txt"]
    entries += [f"040000 tree {inner}\t{name}" for name in ("..", ".git", ".GIT", ".")]
    tree = repository.git("mktree", data="\n".join(entries).encode() + b"\n")
    commit = repository.git(
        "-c", "user.name=T", "-c", "user.email=t@localhost", "commit-tree", tree, "-m", "x"
    )
    repository.git("update-ref", "refs/heads/main", commit)
    listing = repository.view().list()
    assert [item.path for item in listing.items] == ["fine.txt"]
    assert listing.unaddressable == 4


def test_a_commit_id_that_names_a_blob_or_tree_is_not_a_revision(repository: Any) -> None:
    repository.commit({"a.py": "x"})
    view = repository.view()
    for name in ("main:a.py", "main^{tree}"):
        with pytest.raises((NotFound, AstraError)):
            view.list(at=repository.git("rev-parse", name))
    assert view.read("a.py").text == "x"


def test_the_reader_refuses_names_it_cannot_vouch_for(repository: Any) -> None:
    repository.commit({"a.py": "x"})
    reader = ObjectReader(repository.path)
    for name in ("HEAD", "main", "-h", "refs/heads/main\nHEAD", "main:a.py", "refs/heads/../x y"):
        with pytest.raises(GitFailed):
            reader.read(name)
    reader.close()


def test_an_object_beyond_the_limit_is_refused_and_the_next_one_is_read(repository: Any) -> None:
    repository.commit({"big": "x" * 100_000, "small": "y"})
    reader = ObjectReader(repository.path, largest=1000)
    with pytest.raises(ObjectTooLarge):
        reader.read(repository.git("rev-parse", "main:big"))
    small = reader.read(repository.git("rev-parse", "main:small"))
    assert small is not None
    assert small.data == b"y"
    reader.close()


def test_a_failing_command_quotes_git_and_says_what_to_do(repository: Any) -> None:
    with pytest.raises(GitFailed) as failed:
        run_git(GitCommand(repository=repository.path, arguments=("ls-tree", "0" * 40)))
    assert "ls-tree" in failed.value.detail
    assert failed.value.next_step


def test_a_command_may_set_only_harmless_variables(repository: Any) -> None:
    with pytest.raises(BadInput):
        GitCommand(
            repository=repository.path, arguments=("log",), environment={"GIT_SSH_COMMAND": "x"}
        )
    with pytest.raises(BadInput):
        GitCommand(repository=repository.path, arguments=("log", "a\0b"))


def test_a_program_that_prints_too_much_or_too_long_is_ended() -> None:
    flood = BoundedCommand(arguments=("/usr/bin/yes",), timeout=120, output_limit=1000)
    with pytest.raises(ProgramOutputTooLarge):
        run_bounded(flood)
    stuck = BoundedCommand(arguments=("/bin/sleep", "600"), timeout=0.2, output_limit=10)
    with pytest.raises(ProgramTimedOut):
        run_bounded(stuck)
    closed = ("/bin/sh", "-c", "exec >&- 2>&-; exec sleep 600")
    with pytest.raises(ProgramTimedOut):
        run_bounded(BoundedCommand(arguments=closed, timeout=0.2, output_limit=10))
    orphan = ("/bin/sh", "-c", "sleep 600 & exit 0")
    with pytest.raises(ProgramTimedOut):
        run_bounded(BoundedCommand(arguments=orphan, timeout=0.2, output_limit=10))
    with pytest.raises(ProgramMissing):
        run_bounded(BoundedCommand(arguments=("/nonexistent",), timeout=1, output_limit=1))


def test_a_large_input_and_a_large_output_do_not_block_each_other() -> None:
    data = os.urandom(1 << 20)
    command = BoundedCommand(arguments=("/bin/cat",), timeout=30, output_limit=2 << 20, input=data)
    assert run_bounded(command).output == data


def test_a_program_that_ignores_its_input_is_no_error() -> None:
    command = BoundedCommand(
        arguments=("/bin/true",), timeout=120, output_limit=10, input=b"x" * (1 << 20)
    )
    assert run_bounded(command).exit_code == 0


def test_a_commit_is_made_and_compared_raw_through_the_same_runner(
    repository: Any, tmp_path: Path, trap: Path
) -> None:
    """The hardening leaves room for what changes need: a temporary index, identities, diffs."""
    base = repository.commit({"a.py": "x = 1\n", ".gitattributes": "*.py -diff diff=evil\n"})
    (repository.path / "info").mkdir(exist_ok=True)
    (repository.path / "info/attributes").write_text("*.py -diff diff=evil\n")
    for name in ("diff.external", "diff.evil.textconv", "diff.evil.command"):
        repository.git("config", name, str(trap))
    environment = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    for role in ("AUTHOR", "COMMITTER"):
        environment[f"GIT_{role}_NAME"] = "Agent"
        environment[f"GIT_{role}_EMAIL"] = "agent@localhost"

    def git(*arguments: str, data: bytes = b"") -> str:
        command = GitCommand(
            repository=repository.path, arguments=arguments, input=data, environment=environment
        )
        return run_git(command).output.decode().strip()

    git("read-tree", base)
    blob = git("hash-object", "-w", "--stdin", data=b"x = 2\n")
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},a.py")
    commit = git("commit-tree", git("write-tree"), "-p", base, "-m", "Agent modification: x")
    git("update-ref", "refs/heads/astra/chg_00c0ffee", commit)
    for command in (("diff-tree", "-p", base), ("diff", base), ("show",), ("log", "-p", "-1")):
        assert "+x = 2" in git(*command, commit, "--", "a.py")
    assert not (trap.parent / "sprung").exists()
    assert git("log", "--format=%an <%ae>", "-1", commit) == "Agent <agent@localhost>"
    assert repository.view().read("a.py", at="chg_00c0ffee").text == "x = 2\n"
