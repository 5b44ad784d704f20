"""Pushes to real remotes: git's own HTTP server, OpenSSH, folders; and forges of both shapes."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from astra.adapters.forges import ForgeClient
from astra.adapters.git_push import Push
from astra.deployments.pushing import BEHIND, DENIED, REFUSED, UNREACHABLE, PushOrder
from astra.trusted.settings.deploy_settings import Forge
from forge_service import ForgeService, forge_service
from git_servers import SecureShell, make_bare, read_ref, secure_shell, smart_http
from tls_certificates import write_certificate

TOKEN = "tok-3f9a0c7b51"
IDENTITY = ("-c", "user.name=Someone", "-c", "user.email=someone@localhost")


def git(folder: Path, *words: str) -> str:
    command = ["git", *IDENTITY, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@dataclass
class Trusted:
    """A trusted repository whose commits somebody makes, and a remote."""

    folder: Path

    def __post_init__(self) -> None:
        self.work = self.folder / "work"
        self.remote = make_bare(self.folder / "remotes" / "team" / "app.git")
        subprocess.run(["git", "init", "-q", "-b", "main", self.work], check=True)

    def commit(self, text: str) -> str:
        (self.work / "file").write_text(text)
        git(self.work, "add", "-A")
        git(self.work, "commit", "-qm", text)
        return git(self.work, "rev-parse", "HEAD")

    def push(self, remote: str = "", **options: object) -> Push:
        values = {"branch": "main", "key": self.folder / "keys" / "push.key", **options}
        address = remote or f"file://{self.remote}"
        return Push(repository=self.work / ".git", remote=address, **values)  # type: ignore[arg-type]

    def commit_as_person(self) -> str:
        """Commit to the remote's branch, as people do."""
        clone = self.folder / "person"
        subprocess.run(["git", "clone", "-q", self.remote, clone], check=True)
        (clone / "readme").write_text("by a person")
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", "by a person")
        git(clone, "push", "-q")
        return git(clone, "rev-parse", "HEAD")


@pytest.fixture
def trusted(tmp_path: Path) -> Trusted:
    return Trusted(tmp_path)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[SecureShell]:
    with secure_shell(tmp_path / "sshd") as service:
        yield service


def test_a_commit_goes_over_http_with_the_token_and_again_changes_nothing(trusted: Trusted) -> None:
    commit = trusted.commit("one")
    with smart_http(trusted.folder / "remotes", TOKEN) as server:
        push = trusted.push(f"{server.address}/team/app.git", token=TOKEN)
        assert [push.push(commit).ok, push.push(commit).ok] == [True, True]
    assert read_ref(trusted.remote, "main") == commit


def test_a_commit_goes_over_https_to_a_host_whose_certificate_counts(trusted: Trusted) -> None:
    commit = trusted.commit("one")
    write_certificate(trusted.folder, "localhost")
    with smart_http(trusted.folder / "remotes", TOKEN, trusted.folder) as server:
        push = trusted.push(f"{server.address}/team/app.git", token=TOKEN)
        assert push.push(commit).code == UNREACHABLE, "nobody vouches for the host yet"
        assert server.authorizations == []
        git(trusted.work, "config", "http.sslCAInfo", str(trusted.folder / "server.pem"))
        assert push.push(commit).ok
    assert read_ref(trusted.remote, "main") == commit


def test_without_the_right_token_it_is_denied_and_says_what_to_do(trusted: Trusted) -> None:
    commit = trusted.commit("one")
    with smart_http(trusted.folder / "remotes", TOKEN) as server:
        outcome = trusted.push(f"{server.address}/team/app.git", token="another").push(commit)
    assert (outcome.ok, outcome.code) == (False, DENIED)
    assert "push_token" in outcome.next_step
    assert read_ref(trusted.remote, "main") == ""


def test_a_commit_goes_over_ssh_with_the_key_of_the_data_root(
    trusted: Trusted, shell: SecureShell
) -> None:
    commit = trusted.commit("one")
    key = shell.lend_key(trusted.folder / "a folder" / "keys")
    outcome = trusted.push(shell.address(trusted.remote), key=key).push(commit)
    assert outcome.ok, outcome.detail
    assert read_ref(trusted.remote, "main") == commit


def test_a_host_that_nobody_vouched_for_gets_nothing(trusted: Trusted, shell: SecureShell) -> None:
    commit = trusted.commit("one")
    key = shell.lend_key(trusted.folder / "keys")
    host = shell.known_host.split()[0]
    stranger = (shell.folder / "client.pub").read_text().split()[1]
    (key.parent / "known_hosts").write_text(f"{host} ssh-ed25519 {stranger}\n")
    outcome = trusted.push(shell.address(trusted.remote), key=key).push(commit)
    assert (outcome.ok, outcome.code) == (False, DENIED)
    assert "known_hosts" in outcome.next_step
    assert read_ref(trusted.remote, "main") == ""


def test_a_key_that_the_host_does_not_know_is_denied(trusted: Trusted, shell: SecureShell) -> None:
    commit = trusted.commit("one")
    key = shell.lend_key(trusted.folder / "keys")
    (shell.folder / "authorized").write_text("")
    assert trusted.push(shell.address(trusted.remote), key=key).push(commit).code == DENIED


def test_a_push_after_a_persons_commit_names_sync_and_takes_nothing_away(trusted: Trusted) -> None:
    trusted.push().push(trusted.commit("one"))
    theirs = trusted.commit_as_person()
    outcome = trusted.push().push(trusted.commit("two"))
    assert (outcome.ok, outcome.code) == (False, BEHIND)
    assert "astra sync" in outcome.next_step
    assert read_ref(trusted.remote, "main") == theirs


def test_a_commit_that_people_built_upon_already_counts_as_pushed(trusted: Trusted) -> None:
    commit = trusted.commit("one")
    trusted.push().push(commit)
    theirs = trusted.commit_as_person()
    assert trusted.push().push(commit).code == BEHIND, "their commit is not known here yet"
    git(trusted.work, "fetch", "-q", str(trusted.remote), "main")
    outcome = trusted.push().push(commit)
    assert outcome.ok
    assert read_ref(trusted.remote, "main") == theirs


def test_after_their_commits_came_in_the_merge_goes_out(trusted: Trusted) -> None:
    trusted.push().push(trusted.commit("one"))
    trusted.commit_as_person()
    trusted.commit("two")
    git(trusted.work, "fetch", "-q", str(trusted.remote), "main")
    git(trusted.work, "merge", "-q", "--no-edit", "FETCH_HEAD")
    merge = git(trusted.work, "rev-parse", "HEAD")
    assert trusted.push().push(merge).ok
    assert read_ref(trusted.remote, "main") == merge


def test_a_remote_with_rules_of_its_own_says_no_for_good(trusted: Trusted) -> None:
    hook = trusted.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'main is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    outcome = trusted.push().push(trusted.commit("one"))
    assert (outcome.ok, outcome.code) == (False, REFUSED)
    assert "main is protected" in outcome.detail


def test_a_remote_that_is_not_there_is_unreachable(trusted: Trusted) -> None:
    commit = trusted.commit("one")
    outcome = trusted.push(f"file://{trusted.folder}/nowhere.git").push(commit)
    assert (outcome.ok, outcome.code) == (False, UNREACHABLE)


ORDER = PushOrder(
    commit="a" * 40, branch="astra/chg_1", into="main", title="Say hello", text="Because."
)


def make_client(service: ForgeService, token: str = TOKEN) -> ForgeClient:
    forge = Forge(kind=service.kind, api=service.api, owner="team", repository="app")
    return ForgeClient(forge=forge, token=token)


@pytest.mark.parametrize("kind", ["github", "gitea"])
def test_a_pull_request_is_made_once_however_often_it_is_asked_for(kind: str) -> None:
    with forge_service(kind, TOKEN) as service:
        first = make_client(service).request_merge(ORDER)
        again = make_client(service).request_merge(ORDER)
    assert first.ok
    assert first.pull_request == again.pull_request == "https://forge.example/team/app/pull/1"
    (pull,) = service.pulls
    assert (pull["title"], pull["base"], pull["head"]["ref"]) == (
        "Say hello",
        "main",
        "astra/chg_1",
    )
    path = f"{'/api/v3' if kind == 'github' else '/api/v1'}/repos/team/app/pulls"
    assert service.requests[0] == f"POST {path}"


@pytest.mark.parametrize(
    ("status", "code"), [(401, DENIED), (404, DENIED), (422, REFUSED), (503, UNREACHABLE)]
)
def test_what_a_forge_refuses_says_why_and_what_to_do(status: int, code: str) -> None:
    with forge_service("gitea", TOKEN) as service:
        service.status = status
        outcome = make_client(service).request_merge(ORDER)
    assert (outcome.ok, outcome.code) == (False, code)
    assert str(status) in outcome.detail
    assert outcome.next_step


def test_a_forge_that_is_not_there_is_tried_again() -> None:
    with forge_service("github", TOKEN) as service:
        client = make_client(service)
    assert client.request_merge(ORDER).code == UNREACHABLE
