"""A push as data: one transport, one commit, one branch, never forced."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from astra.adapters.git_push import Push
from astra.trusted.kernel.errors import BadSetting

COMMIT = "a" * 40


def push(remote: str) -> Push:
    return Push(
        repository=Path("/data/var/git"),
        remote=remote,
        branch="main",
        key=Path("/data/var/keys/push.key"),
    )


@pytest.mark.parametrize(
    ("remote", "scheme"),
    [
        ("https://example.com/agent.git", "https"),
        ("ssh://git@example.com/agent.git", "ssh"),
        ("git@example.com:team/agent.git", "ssh"),
        ("file:///srv/agent.git", "file"),
        ("/srv/agent.git", "file"),
        ("http://127.0.0.1:3000/team/agent.git", "http"),
    ],
)
def test_only_the_remotes_own_transport_is_open(remote: str, scheme: str) -> None:
    command = push(remote).make_push_command(COMMIT)
    assert command.environment["GIT_ALLOW_PROTOCOL"] == scheme
    assert command.arguments[-3:] == ("--", remote, f"{COMMIT}:refs/heads/main")
    assert "--no-verify" in command.arguments
    assert not {"-f", "--force", "--mirror", "--all", "--tags"} & set(command.arguments)


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "ext::sh -c id",
        "-oProxyCommand=id",
        "--upload-pack=id",
        "../elsewhere",
        "http://example.com/agent.git",
        "file:///a b",
        "git@-x:y z",
        "fd::3",
    ],
)
def test_an_address_that_could_be_something_else_is_refused(remote: str) -> None:
    with pytest.raises(BadSetting):
        push(remote).make_push_command(COMMIT)


@pytest.mark.parametrize("commit", ["main", "--force", "+" + COMMIT, COMMIT + ":x", ""])
def test_only_a_whole_commit_id_is_pushed(commit: str) -> None:
    with pytest.raises(BadSetting):
        push("file:///srv/agent.git").make_push_command(commit)


def test_a_token_is_in_no_argument_and_goes_to_http_only() -> None:
    for remote in ("https://example.com/agent.git", "ssh://git@example.com/agent.git"):
        pushed = replace(push(remote), token="tok-secret")
        command = pushed.make_push_command(COMMIT)
        assert "tok-secret" not in repr(pushed) + repr(command.arguments)
        header = base64.b64encode(b"x-access-token:tok-secret").decode()
        assert (header in repr(command.environment)) == remote.startswith("https")


def test_a_password_in_the_address_is_not_repeated(tmp_path: Path) -> None:
    address = "http://me:hidden-word@127.0.0.1:1/x"
    done = replace(push("file:///x"), repository=tmp_path, remote=address).push(COMMIT)
    assert not done.ok
    assert "hidden-word" not in done.detail
