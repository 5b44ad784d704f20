"""The agent's own clone is hostile: its commits come in as bytes, and nothing of it runs here."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.quarantine import ImportRefused, Quarantine, parse_bundle
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.changes.proposing import Proposal, Proposals
from astra.trusted.changes.admission import NotAdmitted
from astra.trusted.changes.model import Change
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict
from astra.trusted.settings import environment
from changing import IDENTITY, git, make_bare
from driver import Astra, make_repository

FLAG = "ASTRA_CODE_WRITE_ENABLED"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """One data root for all of these: making one, and proving the sandbox, takes a while."""
    folder = tmp_path_factory.mktemp("clone")
    astra = Astra(folder)
    astra.json("init", make_repository(folder / "target"), "--throwaway")
    astra.json("flags", "set", FLAG, "on")
    astra.run("down")
    runtime = build_runtime(environment.load(astra.environment))
    yield runtime
    runtime.close()


@pytest.fixture
def runtime(opened: Runtime) -> Iterator[Runtime]:
    """Give a clone that is clean again, with no branches but the target's."""
    clone = opened.settings.code_repo
    configuration = (clone / ".git/config").read_bytes()
    head = opened.change_parts.repo.head()
    yield opened
    git(opened.root.git, "update-ref", "refs/heads/trunk", head)
    (clone / ".git/config").write_bytes(configuration)
    (clone / ".git/info/attributes").unlink(missing_ok=True)
    git(clone, "-c", "safe.directory=*", "reset", "-q", "--hard")
    git(clone, "-c", "safe.directory=*", "checkout", "-q", "trunk")
    git(clone, "-c", "safe.directory=*", "clean", "-fdxq")
    for branch in ("fix", "evil"):
        subprocess.run(
            ["git", "-c", "safe.directory=*", "branch", "-qD", branch],
            cwd=clone,
            check=False,
            capture_output=True,
        )


def clone_of(runtime: Runtime) -> Path:
    return runtime.settings.code_repo


def in_clone(runtime: Runtime, *words: str | Path) -> str:
    return git(clone_of(runtime), "-c", "safe.directory=*", *IDENTITY, *words)


def propose(runtime: Runtime, branch: str = "fix") -> Change:
    proposal = Proposal(reason="from my clone", from_branch=branch)
    return runtime.changes.proposals.propose(
        proposal, actor="agent:test", correlation="cor_0000000000000001"
    )


def commit_on(runtime: Runtime, branch: str = "fix", **files: str) -> str:
    in_clone(runtime, "checkout", "-q", "-b", branch)
    for name, text in files.items():
        (clone_of(runtime) / name.replace("__", "/").replace("_py", ".py")).write_text(text)
    in_clone(runtime, "add", "-A")
    in_clone(runtime, "commit", "-qm", "mine")
    return in_clone(runtime, "rev-parse", "HEAD")


def test_a_branch_of_the_clone_becomes_a_change_with_a_commit_of_astra_s_own(
    runtime: Runtime,
) -> None:
    tip = commit_on(runtime, agent_py="def answer() -> int:\n    return 43\n", new_py="x = 1\n")
    change = propose(runtime)
    assert [file["path"] for file in change.facts["files"]] == ["agent.py", "new.py"]
    assert change.about["source"]["tip"] == tip
    assert change.commit != tip
    trusted = runtime.root.git
    author = git(trusted, "log", "-1", "--format=%an %s", change.commit)
    assert author == "Agent Agent modification: from my clone"
    known = subprocess.run(
        ["git", "--git-dir", str(trusted), "cat-file", "-e", tip], check=False, capture_output=True
    )
    assert known.returncode != 0, "the agent's own objects stay out of the trusted repository"
    assert not list(runtime.root.var.glob("quarantine-*"))


def test_no_config_hook_or_filter_of_the_clone_runs_on_the_host(
    runtime: Runtime, tmp_path: Path
) -> None:
    commit_on(runtime, agent_py="def answer() -> int:\n    return 43\n")
    trace = tmp_path / "ran"
    program = f"!touch {trace}; true"
    clone = clone_of(runtime)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "alias.bundle"):
        in_clone(runtime, "config", name, program)
    in_clone(runtime, "config", "uploadpack.packObjectsHook", f"touch {trace}")
    in_clone(runtime, "config", "core.hooksPath", str(clone / "hooks"))
    (clone / "hooks").mkdir()
    for hook in ("pre-commit", "post-checkout", "reference-transaction"):
        (clone / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {trace}\n")
        (clone / "hooks" / hook).chmod(0o755)
    (clone / ".git/info/attributes").write_text("*.py -diff filter=evil\n")
    change = propose(runtime)
    assert "return 43" in runtime.changes.diff(change.id).decode()
    assert not trace.exists()


def test_links_submodules_and_git_s_own_names_are_refused_as_anywhere(runtime: Runtime) -> None:
    in_clone(runtime, "checkout", "-q", "-b", "fix")
    (clone_of(runtime) / "link").symlink_to("/etc/passwd")
    in_clone(runtime, "add", "-A")
    head = in_clone(runtime, "rev-parse", "HEAD")
    in_clone(runtime, "update-index", "--add", "--cacheinfo", f"160000,{head},lib")
    in_clone(runtime, "commit", "-qm", "tricks")
    refs = git(runtime.root.git, "for-each-ref", "refs/heads/astra")
    with pytest.raises(NotAdmitted) as refused:
        propose(runtime)
    assert {each["rule"] for each in refused.value.facts["refusals"]} == {"symlink", "submodule"}
    assert git(runtime.root.git, "for-each-ref", "refs/heads/astra") == refs


def test_a_tree_with_git_inside_does_not_pass_git_s_own_checks(runtime: Runtime) -> None:
    in_clone(runtime, "checkout", "-q", "-b", "fix")
    blob = git(
        clone_of(runtime), "-c", "safe.directory=*", "hash-object", "-w", "--stdin", data=b"x"
    )
    inner = git(
        clone_of(runtime),
        "-c",
        "safe.directory=*",
        "mktree",
        data=f"100644 blob {blob}\tconfig\n".encode(),
    )
    outer = git(
        clone_of(runtime),
        "-c",
        "safe.directory=*",
        "mktree",
        data=f"040000 tree {inner}\t.git\n".encode(),
    )
    commit = in_clone(runtime, "commit-tree", outer, "-p", "HEAD", "-m", "evil")
    in_clone(runtime, "update-ref", "refs/heads/evil", commit)
    with pytest.raises((ImportRefused, NotAdmitted)):
        propose(runtime, "evil")


def test_a_clone_that_is_behind_is_carried_over_or_told_where_it_conflicts(
    runtime: Runtime,
) -> None:
    commit_on(runtime, agent_py="def answer() -> int:\n    return 143\n")
    other = Proposal(
        reason="meanwhile",
        edits=[_whole("agent.py", b"def answer() -> int:\n    return 99\n")],
    )
    change = runtime.changes.proposals.propose(
        other, actor="agent:test", correlation="cor_0000000000000002"
    )
    assert runtime.change_parts.repo.fast_forward(expected=change.base, to=change.commit)
    with pytest.raises(Conflict) as conflict:
        propose(runtime)
    assert conflict.value.facts["paths"] == ["'agent.py'"]
    in_clone(runtime, "checkout", "-q", "-f", "trunk")
    in_clone(runtime, "branch", "-qD", "fix")
    commit_on(runtime, beside_py="y = 1\n")
    carried = propose(runtime)
    assert carried.base == change.commit
    assert sorted(runtime.change_parts.repo.tree(carried.commit)) == ["agent.py", "beside.py"]


@pytest.mark.parametrize("name", ["--upload-pack=x", "-x", "a..b", "a b", "x" * 300, "refs\n"])
def test_a_branch_name_is_never_an_option(runtime: Runtime, name: str) -> None:
    with pytest.raises(BadInput):
        propose(runtime, name)


def test_a_branch_that_is_not_there_says_so(runtime: Runtime) -> None:
    with pytest.raises(AstraError) as refused:
        propose(runtime, "nowhere")
    assert refused.value.reason == "import_refused"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"# v3 git bundle\n@filter=x\n",
        b"# v2 git bundle\n",
        b"# v2 git bundle\n\nPACK",
        b"# v2 git bundle\n" + b"0" * 40 + b" refs/a\n" + b"1" * 40 + b" refs/b\n\nPACK",
        b"# v2 git bundle\nnonsense\n\nPACK",
    ],
)
def test_what_is_no_bundle_is_refused(raw: bytes) -> None:
    with pytest.raises(ImportRefused):
        parse_bundle(raw)


def test_a_pack_that_is_broken_or_made_up_is_refused(tmp_path: Path) -> None:
    trusted = make_bare(tmp_path / "git", {"a": b"x"})
    head = git(trusted, "rev-parse", "main")
    for pack in (b"", b"PACK" + b"\0" * 40, b"PACK\0\0\0\2\0\0\0\0" + b"\0" * 20):
        raw = b"# v2 git bundle\n" + b"0" * 40 + b" refs/heads/x\n\n" + pack
        with pytest.raises(ImportRefused):
            Quarantine(trusted).read(raw, head=head, most_files=10, most_bytes=1000)
    assert not list(tmp_path.glob("quarantine-*"))


def test_trees_that_name_more_files_than_fit_are_refused_before_memory_is_gone(
    tmp_path: Path,
) -> None:
    trusted = make_bare(tmp_path / "git", {"a": b"x"})
    head = git(trusted, "rev-parse", "main")
    git(tmp_path, "clone", "-q", "--bare", trusted, clone := tmp_path / "clone")
    entry = "100644 blob " + git(clone, "rev-parse", "main:a")
    for _ in range(8):
        listed = "".join(f"{entry}\td{number}\n" for number in range(10))
        done = subprocess.run(
            ["git", "mktree"], cwd=clone, input=listed, capture_output=True, text=True, check=True
        )
        entry = f"040000 tree {done.stdout.strip()}"
    parent = git(clone, "rev-parse", "main")
    tip = git(clone, *IDENTITY, "commit-tree", entry.split()[-1], "-p", parent, "-m", "x")
    git(clone, "update-ref", "refs/heads/b", tip)
    git(clone, "bundle", "create", "--version=2", str(tmp_path / "bundle"), "b", "^main")
    raw = (tmp_path / "bundle").read_bytes()
    assert len(raw) < 4096
    with pytest.raises(ImportRefused, match="memory"):
        Quarantine(trusted).read(raw, head=head, most_files=10, most_bytes=1000)


def _whole(path: str, content: bytes) -> Any:
    from astra.changes.edits import WholeFile

    return WholeFile(path=path, content=content)


def test_nothing_is_imported_while_code_writing_is_off(runtime: Runtime) -> None:
    commit_on(runtime, agent_py="x = 1\n")
    closed = replace(runtime.changes.bench, closed=lambda: "flag_off")
    boxes = len(runtime.ledger.query("SELECT 1 FROM record WHERE type = 'box_ended'"))
    with pytest.raises(AstraError) as refused:
        Proposals(closed).propose(
            Proposal(reason="x", from_branch="fix"), actor="a", correlation="cor_0000000000000003"
        )
    assert refused.value.reason == "flag_off"
    after = len(runtime.ledger.query("SELECT 1 FROM record WHERE type = 'box_ended'"))
    assert after == boxes
