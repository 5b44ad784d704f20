"""Whoever may write upstream decides nothing here: only what was looked at and signed comes in."""

from pathlib import Path

import pytest

from astra.trusted.git.upstream_repo import UpstreamUnreachable
from astra.trusted.kernel.errors import BadInput, BadSetting, Conflict, Refused
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.policy.authority import SignatureRejected
from astra.trusted.settings import configuration
from astra.trusted.settings.git_address import read_git_address
from astra.trusted.upstream.sync import MERGED
from changing import IDENTITY, git
from syncing import UpstreamHere

TOKEN = b"ghp_" + b"A1b2C3d4" * 4 + b"E5f6"


def test_an_upstream_that_moves_after_the_review_gets_only_what_was_signed(
    upstream: UpstreamHere,
) -> None:
    looked_at = upstream.commit("notes.md", b"fine\n")
    approval = upstream.look()["approval_id"]
    evil = upstream.commit("agent.py", b"import os; os.system('evil')\n")
    upstream.sign(approval)
    assert upstream.here.repo.head() == looked_at
    shown = upstream.look()
    assert [commit["id"] for commit in shown["incoming"]] == [evil]


def test_a_request_for_what_the_upstream_no_longer_has_goes_stale_with_the_next_look(
    upstream: UpstreamHere,
) -> None:
    upstream.commit("notes.md", b"fine\n")
    first = upstream.look()["approval_id"]
    upstream.commit("more.md", b"more\n")
    second = upstream.look()["approval_id"]
    assert upstream.here.desk.get(first).state == "stale"
    with pytest.raises(Conflict, match="stale already"):
        upstream.sign(first)
    assert upstream.here.desk.get(second).state == "pending"


def test_a_rewritten_history_is_a_danger_and_never_a_fast_forward(upstream: UpstreamHere) -> None:
    upstream.commit("notes.md", b"one\n")
    upstream.sign(upstream.look()["approval_id"])
    head = upstream.here.repo.head()
    git(upstream.work, *IDENTITY, "commit", "-q", "--amend", "-m", "rewritten")
    shown = upstream.look()
    assert shown["state"] == "diverged"
    assert "danger:  the upstream's history was rewritten" in shown["findings"][0]
    upstream.sign(shown["approval_id"])
    assert upstream.here.repo.is_ancestor(head, upstream.here.repo.head())


def test_a_history_that_shares_nothing_cannot_come_in(upstream: UpstreamHere) -> None:
    git(upstream.work, "checkout", "-q", "--orphan", "other")
    upstream.commit("agent.py", b"all new\n")
    git(upstream.work, "branch", "-M", "main")
    shown = upstream.look()
    assert (shown["state"], shown["approval_id"]) == ("diverged", None)


def test_protected_paths_need_their_names_in_the_signature(upstream: UpstreamHere) -> None:
    upstream.commit(".github/workflows/ci.yml", b"on: push\n")
    shown = upstream.look()
    assert shown["protected"] == [".github/workflows/ci.yml"]
    with pytest.raises(Refused, match="protected paths") as refused:
        upstream.sign(shown["approval_id"])
    assert "--consent .github/workflows/ci.yml" in refused.value.next_step
    with pytest.raises(BadInput, match="not a protected path"):
        upstream.sign(shown["approval_id"], consent=["agent.py"])
    upstream.sign(shown["approval_id"], consent=[".github/workflows/ci.yml"])
    assert upstream.here.types().count(MERGED) == 1


def test_a_secret_is_found_also_where_a_later_commit_removed_it(upstream: UpstreamHere) -> None:
    added = upstream.commit("token.txt", b"token = " + TOKEN + b"\n")
    (upstream.work / "token.txt").unlink()
    upstream.commit_all("remove it")
    upstream.commit("settings.py", b"TOKEN = '" + TOKEN + b"'\n")
    findings = "\n".join(upstream.look()["findings"])
    assert "danger: settings.py holds what looks like" in findings
    assert "danger: token.txt holds what looks like a password" in findings
    assert f"added by {added[:12]}" in findings
    upstream.commit(".env", b"x=1\n")
    assert "danger: .env is a secret file" in "\n".join(upstream.look()["findings"])


def test_a_scanner_that_fails_is_a_danger_and_no_policy_covers_it(upstream: UpstreamHere) -> None:
    upstream.here.toml = (
        '[target.sync]\naccept = "authors"\nauthors = ["ada@example.org"]\n'
        'until = "2099-01-01T00:00:00Z"\n'
    )
    upstream.here.scanner.error = Refused("no box", next_step="none")
    upstream.commit("notes.md", b"fine\n")
    shown = upstream.look()
    assert shown["state"] == "awaiting_approval"
    assert "it was not scanned: no box" in "\n".join(shown["findings"])


@pytest.mark.parametrize("until", ["", "2000-01-01T00:00:00Z", "2099-01-01", "never"])
def test_a_policy_without_a_valid_end_brings_nothing_in(upstream: UpstreamHere, until: str) -> None:
    upstream.here.toml = (
        f'[target.sync]\naccept = "authors"\nauthors = ["ada@example.org"]\nuntil = "{until}"\n'
    )
    upstream.commit("notes.md", b"fine\n")
    assert upstream.look()["state"] == "awaiting_approval"


def test_only_the_operators_key_signs_and_only_for_this_request(upstream: UpstreamHere) -> None:
    upstream.commit("notes.md", b"fine\n")
    approval = upstream.look()["approval_id"]
    with pytest.raises(SignatureRejected):
        upstream.here.grant(approval, KeyPair.generate())
    head = upstream.here.repo.head()
    upstream.sync.execute(approval)
    assert upstream.here.repo.head() == head


def test_a_branch_that_moved_or_a_configuration_signed_since_voids_the_request(
    upstream: UpstreamHere,
) -> None:
    upstream.commit("notes.md", b"fine\n")
    approval = upstream.look()["approval_id"]
    upstream.here.commit_elsewhere("other.md", b"moved\n")
    with pytest.raises(Conflict, match="main moved on"):
        upstream.sign(approval)
    approval = upstream.look()["approval_id"]
    upstream.here.toml = "[target]\nmax_files = 3\n"
    with pytest.raises(Conflict, match="configuration changed"):
        upstream.sign(approval)


def test_hooks_and_configuration_of_the_upstream_do_not_run(
    upstream: UpstreamHere, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexec cat\n")
    program.chmod(0o755)
    for hook in ("post-checkout", "reference-transaction", "post-merge", "pre-upload"):
        place = upstream.work / ".git" / "hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(program.read_text())
        place.chmod(0o755)
    upstream.commit(".gitattributes", b"* filter=evil diff=evil merge=evil\n")
    upstream.commit("agent.py", b"def answer():\n    return 43\n")
    mark.unlink(missing_ok=True)
    for key, value in (
        ("core.fsmonitor", program),
        ("core.sshCommand", program),
        ("core.alternateRefsCommand", program),
        ("uploadpack.packObjectsHook", program),
        ("filter.evil.clean", program),
        ("diff.evil.command", program),
        ("merge.evil.driver", program),
    ):
        git(upstream.work, "config", key, str(value))
    shown = upstream.look()
    upstream.sign(shown["approval_id"], consent=shown["protected"])
    assert not mark.exists()
    assert upstream.here.repo.head() == shown["tip"]


def test_no_other_ref_of_the_upstream_arrives(upstream: UpstreamHere) -> None:
    git(upstream.work, "tag", "v1")
    git(upstream.work, "branch", "astra/chg_0000000000000001")
    git(upstream.work, "update-ref", "refs/heads/trusted", "HEAD")
    upstream.commit("notes.md", b"fine\n")
    git(upstream.work, "update-ref", "refs/replace/" + upstream.here.repo.head(), "HEAD")
    upstream.sign(upstream.look()["approval_id"])
    quarantine = git(upstream.repo.folder, "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in quarantine if not ref.startswith("refs/heads/incoming/")] == [
        "refs/heads/trusted",
        "refs/heads/upstream",
    ]
    trusted = git(upstream.here.git_dir, "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in trusted if not ref.startswith("refs/astra/incoming/")] == [
        "refs/heads/main"
    ]


def test_objects_that_git_itself_refuses_do_not_arrive(upstream: UpstreamHere) -> None:
    """A tree that names `.git` would be written over the hooks of whoever checks it out."""
    blob = git(upstream.work, "hash-object", "-w", "--stdin", data=b"#!/bin/sh\n")
    entry = b"100644 config\0" + bytes.fromhex(blob)
    inner = git(
        upstream.work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", data=entry
    )
    outer = b"40000 .git\0" + bytes.fromhex(inner)
    tree = git(
        upstream.work, "hash-object", "-w", "-t", "tree", "--stdin", "--literally", data=outer
    )
    evil = git(upstream.work, *IDENTITY, "commit-tree", tree, "-p", "HEAD", "-m", "evil")
    git(upstream.work, "update-ref", "refs/heads/main", evil)
    head = upstream.here.repo.head()
    with pytest.raises(UpstreamUnreachable, match="hasDotgit"):
        upstream.look()
    assert upstream.here.repo.head() == head
    assert not upstream.here.desk.list_by_state(state="all")


def test_a_symbolic_link_is_named_in_the_review(upstream: UpstreamHere) -> None:
    (upstream.work / "link").symlink_to("/etc/passwd")
    upstream.commit_all("a link")
    assert "warning: link is a symbolic link" in "\n".join(upstream.look()["findings"])


def test_what_authors_call_themselves_reaches_no_terminal_unescaped(upstream: UpstreamHere) -> None:
    (upstream.work / "notes.md").write_bytes(b"fine\n")
    upstream.commit_all(
        "hello \x1b[2J\u202e world", author="A\x1b]0;x\x07da <a\u202eda@example.org>"
    )
    shown = upstream.look()
    texts = [*shown["incoming"][0].values(), upstream.here.desk.get(shown["approval_id"]).summary]
    assert not any(char in str(text) for text in texts for char in "\x1b\x07\u202e")


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c id",
        "-uevil",
        "--upload-pack=evil",
        "ssh://-oProxyCommand=evil/x",
        "https://host/with space",
        "http://example.org/app.git",
        "http://127.0.0.1.example.org/app.git",
        "git://example.org/x",
        "file:///x\ny",
        "user@-host:path",
        "user@host:-path",
        "relative/path",
        "",
    ],
)
def test_an_address_that_git_could_read_as_something_else_is_none(address: str) -> None:
    with pytest.raises(BadSetting):
        read_git_address(address, key="target.upstream")
    if address and "\n" not in address:
        with pytest.raises(BadSetting):
            configuration.parse(f'[target]\nupstream = "{address}"\n')


def test_a_signer_cannot_bring_options_along() -> None:
    for line in ("* cert-authority ssh-ed25519 AAAA", "a ssh-ed25519 AAAA\\nb ssh-rsa BBBB", "a b"):
        with pytest.raises(BadSetting):
            configuration.parse(f'[target.sync]\nsigners = ["{line}"]\n')


def test_an_unreachable_upstream_says_so_and_shows_no_credentials(upstream: UpstreamHere) -> None:
    upstream.address = "http://user:hunter2@127.0.0.1:1/app.git"
    with pytest.raises(BadSetting):
        upstream.look()
    upstream.address = "http://127.0.0.1:1/app.git"
    with pytest.raises(UpstreamUnreachable, match="was not fetched"):
        upstream.look()
