"""Commits come from upstreams that not everybody may read: over HTTPS by token, over SSH by key."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.trusted.git.upstream_repo import UpstreamUnreachable
from changing import git
from git_servers import SmartHttp, secure_shell, smart_http
from syncing import UpstreamHere
from tls_certificates import write_certificate

TOKEN = "tok-7c1e5b20d9"


@pytest.fixture
def server(upstream: UpstreamHere, tmp_path: Path) -> Iterator[SmartHttp]:
    """Serve the person's repository over TLS, to whoever has the token."""
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    write_certificate(certificates, "localhost")
    git(upstream.here.git_dir, "config", "http.sslCAInfo", str(certificates / "server.pem"))
    with smart_http(tmp_path, TOKEN, certificates) as service:
        upstream.address = f"{service.address}/{upstream.work.relative_to(tmp_path)}/.git"
        yield service


def test_commits_come_in_over_https_with_the_token(
    upstream: UpstreamHere, server: SmartHttp
) -> None:
    upstream.token = TOKEN
    tip = upstream.commit("notes.md", b"one\n")
    shown = upstream.look()
    assert [commit["id"] for commit in shown["incoming"]] == [tip]
    upstream.sign(shown["approval_id"])
    assert upstream.here.repo.head() == tip
    assert TOKEN not in shown["upstream"]
    assert server.authorizations


@pytest.mark.parametrize("token", ["", "another"])
def test_without_the_right_token_nothing_comes_and_it_says_what_to_do(
    upstream: UpstreamHere, server: SmartHttp, token: str
) -> None:
    upstream.token = token
    upstream.commit("notes.md", b"one\n")
    with pytest.raises(UpstreamUnreachable) as refused:
        upstream.look()
    assert "upstream_token" in refused.value.next_step
    assert server.address in refused.value.detail


def test_commits_come_in_over_ssh_with_the_key_of_the_data_root(
    upstream: UpstreamHere, tmp_path: Path
) -> None:
    tip = upstream.commit("notes.md", b"one\n")
    with secure_shell(tmp_path / "sshd") as shell:
        upstream.address = shell.address(upstream.work)
        with pytest.raises(UpstreamUnreachable) as refused:
            upstream.look()
        assert "known_hosts" in refused.value.next_step
        shell.lend_key(upstream.here.folder / "keys")
        assert [commit["id"] for commit in upstream.look()["incoming"]] == [tip]
