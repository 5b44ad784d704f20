"""Whoever answers for the remote or its forge: what it gets to know, and what it may say."""

import subprocess
from pathlib import Path

import pytest

from astra.adapters.forges import ForgeClient
from astra.adapters.git_push import Push
from astra.adapters.operators_remote import read_token
from astra.deployments.pushing import UNREACHABLE, PushOrder
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import BadSetting, Refused
from astra.trusted.settings import configuration
from astra.trusted.settings.deploy_settings import Forge
from forge_service import ForgeService, forge_service
from git_servers import make_bare, smart_http

TOKEN = "tok-5d0e8a91c2"
ORDER = PushOrder(commit="a" * 40, branch="astra/chg_1", into="main", title="t", text="t")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"]
    command = ["git", "-C", folder, *identity, "commit", "-q", "--allow-empty", "-m", "one"]
    subprocess.run(command, check=True)
    return folder


def make_push(work: Path, remote: str) -> tuple[Push, str]:
    head = ["git", "-C", work, "rev-parse", "HEAD"]
    commit = subprocess.check_output(head, text=True).strip()
    push = Push(
        repository=work / ".git", remote=remote, branch="main", key=work / "no", token=TOKEN
    )
    return push, commit


def make_client(service: ForgeService, seconds: float = 30.0) -> ForgeClient:
    forge = Forge(kind="github", api=service.api, owner="team", repository="app")
    return ForgeClient(forge=forge, token=TOKEN, seconds=seconds)


def test_a_remote_that_sends_elsewhere_does_not_send_the_token_there(work: Path) -> None:
    make_bare(work.parent / "remotes" / "app.git")
    with smart_http(work.parent / "remotes") as stranger, smart_http(work.parent) as server:
        server.redirect_to = stranger.address
        push, commit = make_push(work, f"{server.address}/app.git")
        assert not push.push(commit).ok
        assert server.authorizations
        assert stranger.authorizations == []


def test_a_forge_that_sends_elsewhere_does_not_send_the_token_there() -> None:
    with forge_service("github", TOKEN) as stranger, forge_service("github", TOKEN) as service:
        service.status, service.redirect_to = 307, stranger.api
        assert not make_client(service).request_merge(ORDER).ok
        assert stranger.requests == []


def test_a_forge_that_repeats_the_token_does_not_put_it_into_the_record() -> None:
    with forge_service("github", "another") as service:
        outcome = make_client(service).request_merge(ORDER)
    assert not outcome.ok
    assert "bad token" in outcome.detail
    assert TOKEN not in repr(outcome)


def test_a_remote_that_repeats_the_token_does_not_put_it_into_the_record(work: Path) -> None:
    bare = make_bare(work.parent / "app.git")
    hook = bare / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\nprintf '{TOKEN} \\033[2J\\033]0;owned\\007' >&2\nexit 1\n")
    hook.chmod(0o755)
    push, commit = make_push(work, f"file://{bare}")
    outcome = push.push(commit)
    assert "owned" in outcome.detail
    assert TOKEN not in outcome.detail
    assert "\x1b" not in outcome.detail


@pytest.mark.parametrize(
    "body",
    [
        b'{"html_url": "javascript:alert(1)"}',
        b'{"html_url": {"a": 1}}',
        b'{"html_url": "https://x/\\u001b[2J\\u202e"}',
        b"[" * 100_000,
        b"\xff\xfe nothing",
        b"[]",
    ],
)
def test_what_a_forge_answers_is_one_printable_line_or_nothing(body: bytes) -> None:
    with forge_service("github", TOKEN) as service:
        service.body = body
        outcome = make_client(service).request_merge(ORDER)
    assert outcome.pull_request.isprintable()
    assert "javascript" not in outcome.pull_request
    assert outcome.detail.isprintable()


def test_a_forge_that_never_ends_its_answer_is_left_in_time() -> None:
    with forge_service("github", TOKEN) as service:
        service.body = b" " * (1 << 27)
        outcome = make_client(service, seconds=5).request_merge(ORDER)
    assert outcome.ok or outcome.code == UNREACHABLE


@pytest.mark.parametrize("name", ["../keys/ledger.key", "/etc/passwd", "a/b", "", ".", "a b"])
def test_a_token_is_named_by_a_plain_name(name: str, tmp_path: Path) -> None:
    text = f'[deploy]\npush_token = "{name}"'
    if name:
        with pytest.raises(BadSetting):
            configuration.parse(text)
    else:
        name = configuration.parse(text).deploy.push_token
        assert read_token(DataRoot(tmp_path), name, setting="[deploy] push_token") == ""


@pytest.mark.parametrize("content", ["", "two\nlines", "a b", "tok\x00en"])
def test_a_token_that_could_be_more_than_a_header_is_refused(content: str, tmp_path: Path) -> None:
    root = DataRoot(tmp_path)
    (root.var / "secrets").mkdir(parents=True)
    (root.var / "secrets" / "PUSH").write_text(content)
    with pytest.raises(Refused):
        read_token(root, "PUSH", setting="[deploy] push_token")


@pytest.mark.parametrize(
    "api",
    [
        "http://forge.example/api/v1",
        "http://127.0.0.1.forge.example/api",
        "https://me:word@forge.example/api",
        "ftp://forge.example",
        "forge.example/api",
        "https://forge.example/?x=",
    ],
)
def test_a_token_goes_to_no_address_where_others_listen(api: str) -> None:
    with pytest.raises(BadSetting):
        configuration.parse(f'[deploy]\nforge_api = "{api}"')
