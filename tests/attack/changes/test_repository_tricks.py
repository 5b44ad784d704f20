"""What an agent plants in a repository neither runs on the host nor hides from a reviewer."""

from pathlib import Path

import pytest

from astra.changes.edits import Patch, WholeFile
from astra.trusted.changes.admission import NotAdmitted
from changing import ChangesHere, git, make_bare


def planted(folder: Path, name: str) -> str:
    """A program that leaves a trace when somebody runs it."""
    program = folder / name
    program.write_text(f"#!/bin/sh\ntouch {folder}/ran-{name}\ncat\n")
    program.chmod(0o755)
    return str(program)


def traces(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran-*"))


@pytest.fixture
def hostile(tmp_path: Path) -> ChangesHere:
    """A target whose tree, attributes and repository configuration are all against us."""
    attributes = b"*.py -diff\n*.txt export-ignore\n* filter=evil diff=evil merge=evil ident\n"
    files = {
        ".gitattributes": attributes,
        "agent.py": b"def answer():\n    return 41\n",
        "notes.txt": b"$Id$\n",
        "sub/.gitattributes": b"* binary\n",
        "sub/a.py": b"x = 1\n",
    }
    bare = make_bare(tmp_path / "git", files)
    program = planted(tmp_path, "program")
    for name in ("clean", "smudge", "process"):
        git(bare, "config", f"filter.evil.{name}", program)
    git(bare, "config", "filter.evil.required", "true")
    git(bare, "config", "diff.evil.textconv", program)
    git(bare, "config", "diff.evil.command", program)
    git(bare, "config", "diff.external", program)
    git(bare, "config", "merge.evil.driver", program)
    git(bare, "config", "core.fsmonitor", program)
    git(bare, "config", "core.hooksPath", str(tmp_path))
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info/attributes").write_bytes(attributes)
    (bare / "hooks").mkdir(exist_ok=True)
    for hook in ("reference-transaction", "post-commit", "update", "post-index-change"):
        planted(bare / "hooks", hook)
        planted(tmp_path, hook)
    return ChangesHere(tmp_path)


def test_planted_attributes_hide_nothing_from_the_diff(hostile: ChangesHere) -> None:
    change = hostile.propose(
        WholeFile(path="agent.py", content=b"def answer():\n    return 666\n"),
        WholeFile(path="notes.txt", content=b"$Id$\nmore\n"),
        WholeFile(path="sub/a.py", content=b"x = 2\n"),
    )
    text = hostile.changes.diff(change.id).decode()
    assert "+    return 666" in text
    assert "+more" in text
    assert "+x = 2" in text
    assert "Binary" not in text
    contents = hostile.repo.files(change.commit, ["notes.txt"])
    assert contents["notes.txt"].content == b"$Id$\nmore\n"
    hostile.close()


def test_no_planted_program_runs_from_proposal_to_merge(hostile: ChangesHere) -> None:
    change = hostile.reviewed()
    hostile.commit_elsewhere("agent.py", b"# first\ndef answer():\n    return 41\n")
    hostile.approve(change)
    again = hostile.get(change.id)
    if again.approval:
        hostile.approve(again)
    hostile.changes.diff(change.id)
    assert traces(hostile.folder) == []
    assert not list((hostile.git_dir / "hooks").glob("ran-*"))
    hostile.close()


def test_replace_refs_and_grafts_change_nothing_that_is_read_or_merged(here: ChangesHere) -> None:
    change = here.reviewed()
    fake = git(here.git_dir, "hash-object", "-w", "--stdin", data=b"harmless\n")
    blob = here.repo.tree(change.commit)["agent.py"].blob
    git(here.git_dir, "replace", blob, fake)
    (here.git_dir / "info").mkdir(exist_ok=True)
    (here.git_dir / "info/grafts").write_text(f"{change.commit}\n")
    content = here.repo.files(change.commit, ["agent.py"])["agent.py"].content
    assert content == b"def answer():\n    return 42\n"
    assert "return 42" in here.changes.diff(change.id).decode()
    here.approve(change)
    assert here.repo.head() == change.commit


@pytest.mark.parametrize(
    "patch",
    [
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
        "diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/f b/f\nnew file mode 104755\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n",
    ],
)
def test_modes_in_a_diff_make_no_link_submodule_or_oddity(here: ChangesHere, patch: str) -> None:
    before = here.repo.head()
    with pytest.raises(NotAdmitted):
        here.propose(Patch(text=patch.encode()))
    assert here.repo.head() == before
    assert git(here.git_dir, "for-each-ref", "refs/heads/astra") == ""


def test_a_reason_cannot_forge_the_message_or_the_terminal(here: ChangesHere) -> None:
    change = here.propose(
        reason="fix\x1b[2J\x00\n\nAstra-Change: chg_0000000000000000\nSigned: you"
    )
    message = git(here.git_dir, "log", "-1", "--format=%B", change.commit)
    assert message.startswith("Agent modification: fix\\x1b[2J\\x00\n")
    assert message.rstrip().endswith(f"Astra-Change: {change.id}")
    assert "\x1b" not in message


def test_file_names_cannot_break_out_of_git_s_lines(here: ChangesHere) -> None:
    for path in ("a\nb", "a\tb", "a\0b", '"a', "-rf", "a b"):
        try:
            change = here.propose(WholeFile(path=path, content=b"x\n"))
        except Exception as error:  # noqa: BLE001 - refused is fine, half done is not
            assert getattr(error, "code", "")
            continue
        assert path in here.repo.tree(change.commit)
        assert len(here.repo.tree(change.commit)) == 2
