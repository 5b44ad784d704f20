"""The token for a private upstream goes to the host that is signed, and nowhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.trusted.git.upstream_repo import UpstreamUnreachable
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings import configuration
from changing import git
from git_servers import SmartHttp, smart_http
from syncing import UpstreamHere
from tls_certificates import write_certificate

TOKEN = "tok-0b9d44e17f"


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    folder = tmp_path / "certificates"
    folder.mkdir()
    write_certificate(folder, "localhost")
    return folder


@pytest.fixture
def server(upstream: UpstreamHere, certificates: Path, tmp_path: Path) -> Iterator[SmartHttp]:
    upstream.token = TOKEN
    upstream.commit("notes.md", b"one\n")
    with smart_http(tmp_path, TOKEN, certificates) as service:
        upstream.address = f"{service.address}/{upstream.work.relative_to(tmp_path)}/.git"
        yield service


def test_a_server_without_a_certificate_that_counts_does_not_get_the_token(
    upstream: UpstreamHere, server: SmartHttp
) -> None:
    with pytest.raises(UpstreamUnreachable, match="certificate"):
        upstream.look()
    assert server.authorizations == []


def test_a_certificate_of_another_name_does_not_count(
    upstream: UpstreamHere, server: SmartHttp, certificates: Path
) -> None:
    git(upstream.here.git_dir, "config", "http.sslCAInfo", str(certificates / "server.pem"))
    upstream.address = upstream.address.replace("localhost", "127.0.0.1")
    with pytest.raises(UpstreamUnreachable, match=r"certificate|name"):
        upstream.look()
    assert server.authorizations == []


def test_a_server_that_sends_elsewhere_does_not_send_the_token_there(
    upstream: UpstreamHere, server: SmartHttp, certificates: Path, tmp_path: Path
) -> None:
    git(upstream.here.git_dir, "config", "http.sslCAInfo", str(certificates / "server.pem"))
    with smart_http(tmp_path) as stranger:
        server.redirect_to = stranger.address
        with pytest.raises(UpstreamUnreachable) as refused:
            upstream.look()
        assert stranger.authorizations == []
    assert server.authorizations
    assert TOKEN not in refused.value.detail


@pytest.mark.parametrize(
    "lines",
    [
        'upstream_token = "../keys/ledger.key"',
        'upstream_token = "TOKEN"',
        'upstream = "git@example.org:team/app.git"\nupstream_token = "TOKEN"',
        'upstream = "/srv/app"\nupstream_token = "TOKEN"',
        f'upstream = "https://example.org/app.git"\nupstream_token = "{TOKEN} "',
    ],
)
def test_a_token_is_a_name_and_only_for_an_upstream_that_takes_one(lines: str) -> None:
    with pytest.raises(BadSetting):
        configuration.parse(f"[target]\n{lines}")
