"""Commits of people come in with their ancestry, by signature or by a signed policy."""

import subprocess
from pathlib import Path

import pytest

from astra.changes.edits import WholeFile
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import Refused
from astra.trusted.upstream.sync import MERGED
from changing import IDENTITY, git
from syncing import UpstreamHere

POLICY = '[target.sync]\naccept = "{accept}"\nuntil = "2099-01-01T00:00:00Z"\n'


def test_nothing_new_is_up_to_date(upstream: UpstreamHere) -> None:
    assert upstream.look()["state"] == "up_to_date"


def test_a_commit_is_listed_signed_for_and_comes_in_with_its_ancestry(
    upstream: UpstreamHere,
) -> None:
    first = upstream.commit("notes.md", b"one\n")
    tip = upstream.commit("notes.md", b"two\n", author="Grace <grace@example.org>")
    shown = upstream.look()
    assert shown["state"] == "awaiting_approval"
    assert [(c["id"], c["author"], c["subject"]) for c in shown["incoming"]] == [
        (tip, "Grace", "write notes.md"),
        (first, "Ada", "write notes.md"),
    ]
    approval = upstream.here.desk.get(shown["approval_id"])
    assert "bring 2 commits of the upstream into main, by Grace, Ada: 1 file" in approval.summary
    assert upstream.sync.show() == upstream.look() == shown
    upstream.sign(shown["approval_id"])
    assert upstream.here.repo.head() == tip
    assert upstream.here.repo.history(3)[1] == first
    assert upstream.here.types().count(MERGED) == 1
    assert upstream.look()["state"] == "up_to_date"


def test_nothing_moves_without_a_signature(upstream: UpstreamHere) -> None:
    head = upstream.here.repo.head()
    upstream.commit("notes.md", b"one\n")
    shown = upstream.look()
    upstream.sync.execute(shown["approval_id"])
    assert upstream.here.repo.head() == head
    upstream.here.desk.reject(shown["approval_id"], "not now", actor="operator")
    upstream.sync.execute(shown["approval_id"])
    assert upstream.here.repo.head() == head


def test_changes_that_wait_are_carried_over_and_tested_again(upstream: UpstreamHere) -> None:
    here = upstream.here
    change = here.reviewed()
    tests_before = len(here.tests.ran)
    tip = upstream.commit("notes.md", b"one\n")
    upstream.sign(upstream.look()["approval_id"])
    here.steps.run_due()
    carried = here.get(change.id)
    assert (carried.state, carried.base) == (State.AWAITING, tip)
    assert len(here.tests.ran) > tests_before
    here.approve(carried)
    assert here.get(change.id).state is State.EXECUTED


def test_histories_that_diverged_are_merged_by_signature(upstream: UpstreamHere) -> None:
    here = upstream.here
    change = here.reviewed(WholeFile(path="ours.md", content=b"ours\n"))
    here.approve(change)
    ours = here.repo.head()
    theirs = upstream.commit("theirs.md", b"theirs\n")
    shown = upstream.look()
    assert (shown["state"], shown["incoming_total"]) == ("diverged", 1)
    upstream.sign(shown["approval_id"])
    merged = here.repo.head()
    parents = git(here.git_dir, "rev-list", "--parents", "--max-count=1", merged).split()[1:]
    assert parents == [ours, theirs]
    files = here.repo.files(merged, ["ours.md", "theirs.md"])
    assert {path: file.content for path, file in files.items()} == {
        "ours.md": b"ours\n",
        "theirs.md": b"theirs\n",
    }


def test_lines_that_both_sides_changed_are_shown_and_not_asked_for(upstream: UpstreamHere) -> None:
    here = upstream.here
    here.approve(here.reviewed())
    upstream.commit("agent.py", b"def answer():\n    return 43\n")
    shown = upstream.look()
    assert (shown["state"], shown["approval_id"]) == ("diverged", None)
    assert shown["conflicts"] == ["agent.py"]
    head = here.repo.head()
    git(upstream.work, *IDENTITY, "pull", "-q", "--no-rebase", "-X", "ours", here.git_dir, "main")
    merged = git(upstream.work, "rev-parse", "HEAD")
    upstream.sign(upstream.look()["approval_id"])
    assert here.repo.head() == merged
    assert here.repo.is_ancestor(head, merged)


def test_a_signed_policy_brings_named_authors_in(upstream: UpstreamHere) -> None:
    upstream.here.toml = POLICY.format(accept="authors") + 'authors = ["ada@example.org"]\n'
    tip = upstream.commit("notes.md", b"one\n")
    shown = upstream.look()
    assert (shown["state"], shown["approval_id"]) == ("merged", None)
    assert upstream.here.repo.head() == tip
    upstream.commit("notes.md", b"two\n", author="Mallory <m@example.org>")
    assert upstream.look()["state"] == "awaiting_approval"


def test_a_signed_policy_brings_signed_commits_in(upstream: UpstreamHere, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True
    )
    public = key.with_suffix(".pub").read_text().split()[:2]
    signer = f"ada@example.org {' '.join(public)}"
    upstream.here.toml = POLICY.format(accept="signatures") + f'signers = ["{signer}"]\n'
    upstream.commit("notes.md", b"unsigned\n")
    assert upstream.look()["state"] == "awaiting_approval"
    signing = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}")
    git(upstream.work, *signing, *IDENTITY, "commit", "-q", "--amend", "-S", "-m", "signed")
    assert upstream.look()["state"] == "merged"


@pytest.mark.parametrize("path", ["tests/test_x.py", "pyproject.toml", ".github/workflows/x.yml"])
def test_no_policy_covers_tests_dependencies_and_protected_paths(
    upstream: UpstreamHere, path: str
) -> None:
    upstream.here.toml = POLICY.format(accept="authors") + 'authors = ["ada@example.org"]\n'
    upstream.commit(path, b"one = 1\n")
    assert upstream.look()["state"] == "awaiting_approval"


def test_a_move_that_a_crash_left_unrecorded_is_recorded(upstream: UpstreamHere) -> None:
    tip = upstream.commit("notes.md", b"one\n")
    approval = upstream.look()["approval_id"]
    upstream.here.grant(approval)
    upstream.repo.bring_in(tip)
    assert upstream.here.repo.fast_forward(expected=upstream.here.repo.head(), to=tip)
    upstream.sync.execute(approval)
    assert upstream.here.types().count(MERGED) == 1
    assert upstream.here.desk.get(approval).state == "used"


def test_nothing_is_fetched_while_all_is_stopped(upstream: UpstreamHere) -> None:
    upstream.here.stopped = True
    with pytest.raises(Refused, match="stopped"):
        upstream.look()


def commit_many(upstream: UpstreamHere, files: list[dict[str, bytes | None]]) -> list[str]:
    """Commit upstream many times at once; a file that is None goes away."""
    stream = [b"reset refs/heads/main\nfrom refs/heads/main^0\n\n"]
    for number, changed in enumerate(files):
        message = f"commit {number}".encode()
        who = b"Ada <ada@example.org> 1700000000 +0000"
        stream.append(b"commit refs/heads/main\nauthor %s\ncommitter %s\n" % (who, who))
        stream.append(b"data %d\n%s\n" % (len(message), message))
        for path, content in changed.items():
            if content is None:
                stream.append(b"D %s\n" % path.encode())
            else:
                inline = (path.encode(), len(content), content)
                stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % inline)
    command = ["git", "-C", str(upstream.work), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=b"".join(stream), check=True)
    return git(upstream.work, "rev-list", "--reverse", f"-{len(files)}", "main").split()


def test_more_commits_than_anybody_reads_come_in_by_parts_each_shown_whole(
    upstream: UpstreamHere,
) -> None:
    secret: dict[str, bytes | None] = {"conf/server.key": b"-----BEGIN PRIVATE KEY-----\n"}
    files = [{"a": b"%d" % number} for number in range(440)]
    commits = commit_many(upstream, [secret, {"conf/server.key": None}, *files])
    for expected in (commits[:200], commits[200:400], commits[400:]):
        found = upstream.look()
        assert [commit["id"] for commit in found["incoming"]] == expected[::-1]
        assert found["incoming_total"] == len(expected)
        assert found["incoming_later"] == len(commits) - commits.index(expected[-1]) - 1
        assert any("conf/server.key" in line for line in found["findings"]) == (
            expected[0] == commits[0]
        ), "the history of every commit is looked through"
        assert upstream.look()["approval_id"] == found["approval_id"], "it is asked for once"
        upstream.sign(found["approval_id"])
        assert upstream.here.repo.head() == expected[-1]
    assert upstream.look()["state"] == "up_to_date"


def test_every_file_is_named_and_fewer_commits_are_asked_for_where_there_are_too_many(
    upstream: UpstreamHere,
) -> None:
    many: dict[str, bytes | None] = {f"{'d' * 80}/{number}": b"x" for number in range(3000)}
    commits = commit_many(upstream, [{"a": b"1"}, many, {f"{path}-": b"y" for path in many}])
    found = upstream.look()
    assert [commit["id"] for commit in found["incoming"]] == [commits[0]]
    upstream.sign(found["approval_id"])
    found = upstream.look()
    assert found["incoming_later"] == 1
    assert found["files"] == sorted(many)


def test_a_commit_that_nobody_could_read_whole_is_not_asked_for(upstream: UpstreamHere) -> None:
    commit_many(upstream, [{f"{'d' * 180}/{number}": b"x" for number in range(3500)}])
    with pytest.raises(Refused, match="more than a person can read") as caught:
        upstream.look()
    assert caught.value.reason == "cannot_be_shown"
    assert upstream.here.desk.list_for_subject("sync", "upstream", "pending") == []


def test_a_merge_of_many_commits_is_shown_with_all_of_them(upstream: UpstreamHere) -> None:
    start = git(upstream.work, "rev-parse", "HEAD")
    commits = commit_many(upstream, [{"b": b"%d" % number} for number in range(230)])
    git(upstream.work, "update-ref", "refs/heads/side", commits[-1])
    git(upstream.work, "reset", "-q", "--hard", start)
    git(upstream.work, *IDENTITY, "merge", "-q", "--no-ff", "-m", "merge", "side")
    found = upstream.look()
    assert found["incoming_total"] == len(found["incoming"]) == 231
    assert found["incoming_later"] == 0
