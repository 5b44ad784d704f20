"""Edits in the work tree of the agent's clone: read in a box, made a commit there, and no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.changes.proposing import Proposal
from astra.trusted.changes.admission import NotAdmitted
from astra.trusted.changes.ports import Imported
from astra.trusted.settings import environment
from changing import IDENTITY, git
from driver import Astra, make_repository

FLAG = "ASTRA_CODE_WRITE_ENABLED"
SAFE = ("-c", "safe.directory=*")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """One data root for all of these: making one, and proving the sandbox, takes a while."""
    folder = tmp_path_factory.mktemp("loose")
    astra = Astra(folder)
    astra.json("init", make_repository(folder / "target"), "--throwaway")
    astra.json("flags", "set", FLAG, "on")
    astra.run("down")
    runtime = build_runtime(environment.load(astra.environment))
    yield runtime
    runtime.close()


@pytest.fixture
def runtime(opened: Runtime) -> Iterator[Runtime]:
    """Give a clone that is clean again, with the configuration it had."""
    clone = opened.settings.code_repo
    configuration = (clone / ".git/config").read_bytes()
    yield opened
    (clone / ".git/config").write_bytes(configuration)
    git(clone, *SAFE, "reset", "-q", "--hard")
    git(clone, *SAFE, "clean", "-ffdxq")


def loose(runtime: Runtime) -> Imported | None:
    return runtime.changes.proposals.loose_edits(
        actor="agent:test", correlation="cor_0000000000000001"
    )


def paths(found: Imported | None) -> list[str]:
    assert found is not None
    return [file.path for file in found.files]


def test_a_clean_clone_has_none_and_neither_has_a_missing_one(runtime: Runtime) -> None:
    assert loose(runtime) is None
    clone = runtime.settings.code_repo
    aside = clone.with_name("aside")
    clone.rename(aside)
    try:
        assert loose(runtime) is None
    finally:
        aside.rename(clone)


def test_edited_new_and_deleted_files_are_found_whatever_their_bytes(runtime: Runtime) -> None:
    clone = runtime.settings.code_repo
    (clone / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (clone / "latin.py").write_bytes(b"# caf\xe9\n")
    (clone / "agent.py").unlink()
    found = loose(runtime)
    assert paths(found) == ["agent.py", "crlf.txt", "latin.py"]
    assert found is not None
    assert [file.new for file in found.files] == [None, b"one\r\ntwo\r\n", b"# caf\xe9\n"]
    again = loose(runtime)
    assert again is not None
    assert again.tip == found.tip, "the same edits have the same name"


def test_what_the_target_has_already_is_not_loose(runtime: Runtime) -> None:
    clone = runtime.settings.code_repo
    head = runtime.change_parts.repo.head()
    (clone / "new.py").write_text("x = 1\n")
    change = runtime.changes.proposals.propose(
        Proposal(reason="mine", loose=loose(runtime)),
        actor="agent:test",
        correlation="cor_0000000000000001",
    )
    assert change.about["source"]["branch"] == "(work tree)"
    assert runtime.change_parts.repo.fast_forward(expected=head, to=change.commit)
    try:
        assert loose(runtime) is None
    finally:
        git(runtime.root.git, "update-ref", "refs/heads/trunk", head)


def test_no_hook_filter_or_setting_of_the_clone_acts_on_the_host(
    runtime: Runtime, tmp_path: Path
) -> None:
    clone, trace = runtime.settings.code_repo, tmp_path / "ran"
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "alias.add"):
        git(clone, *SAFE, *IDENTITY, "config", name, f"touch {trace}")
    (clone / ".gitattributes").write_text("*.py filter=evil -diff\n")
    (clone / "agent.py").write_text("def answer() -> int:\n    return 43\n")
    assert paths(loose(runtime)) == [".gitattributes", "agent.py"]
    assert not trace.exists()


def test_what_may_not_come_in_by_a_branch_may_not_come_in_here(runtime: Runtime) -> None:
    clone = runtime.settings.code_repo
    (clone / "link").symlink_to("/etc/passwd")
    inner = clone / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, *IDENTITY, "commit", "-q", "--allow-empty", "-m", "one")
    with pytest.raises(NotAdmitted) as refused:
        runtime.changes.proposals.propose(
            Proposal(reason="mine", loose=loose(runtime)),
            actor="agent:test",
            correlation="cor_0000000000000001",
        )
    rules = {each["rule"] for each in refused.value.facts["refusals"]}
    assert rules == {"symlink", "submodule"}
