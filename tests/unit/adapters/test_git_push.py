"""A push as data: one transport, one commit, one branch, never forced."""

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
    ],
)
def test_only_the_remotes_own_transport_is_open(remote: str, scheme: str) -> None:
    command = push(remote).described(COMMIT)
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
        "/srv/agent.git",
        "http://example.com/agent.git",
        "file:///a b",
        "git@-x:y z",
        "fd::3",
    ],
)
def test_an_address_that_could_be_something_else_is_refused(remote: str) -> None:
    with pytest.raises(BadSetting):
        push(remote).described(COMMIT)


@pytest.mark.parametrize("commit", ["main", "--force", "+" + COMMIT, COMMIT + ":x", ""])
def test_only_a_whole_commit_id_is_pushed(commit: str) -> None:
    with pytest.raises(BadSetting):
        push("file:///srv/agent.git").described(commit)


def test_a_password_in_the_address_is_not_repeated() -> None:
    hidden = push("https://me:secret@example.com/x")._hidden(
        "fatal: https://me:secret@example.com/x"
    )
    assert "secret" not in hidden
