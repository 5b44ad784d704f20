"""Servers that people use, as they come from the registries, behind the gate and in boxes."""

import http.server
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.trusted.egress.egress_proxy import Internet
from astra.trusted.kernel.errors import AstraError, NeedsApproval
from astra.trusted.sandbox import machine, staging
from servers_world import ServersWorld
from tls_certificates import write_certificate

CHROMIUM = Path("/usr/lib/chromium/chromium")
"""The program itself: the script at /usr/bin/chromium reads files that no box has."""
SDK_SERVER = Path(__file__).parent / "sdk_server.py"


def make_folder(path: Path) -> Path:
    """Make a folder that boxes may write, as an operator would."""
    path.mkdir()
    staging.hand_over(path, machine.inspect_machine().identity)
    return path


def sign(world: ServersWorld, name: str, command: str, *lines: str) -> list[str]:
    entry = ["[[mcp.servers]]", f'name = "{name}"', f'command = "{command}"', *lines]
    world.sign("\n".join(entry))
    world.accept(name)
    return [tool.name for tool in world.world.counter.registry.list_all()]


def test_git(world: ServersWorld, programs: Path) -> None:
    repository = world.folder / "repository"
    for words in (
        ["init", "-q", repository],
        ["-C", repository, "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *map(str, words)], check=True)
    names = sign(
        world,
        "git",
        f"{programs}/py/bin/mcp-server-git",
        f'read_paths = ["{repository}", "{repository}/.git"]',
        '[mcp.servers.env]\nGIT_CONFIG_COUNT = "1"',
        'GIT_CONFIG_KEY_0 = "safe.directory"\nGIT_CONFIG_VALUE_0 = "*"',
        '[mcp.servers.tiers]\ngit_log = 0\ngit_status = 0\n"git_*" = 1',
        '[[mcp.servers.arguments]]\nargument = "repo_path"\nkind = "read_path"',
    )
    assert "mcp.git.git_log" in names
    assert "first" in world.call("mcp.git.git_log", repo_path=str(repository))["text"]
    with pytest.raises(AstraError) as refusal:
        world.call("mcp.git.git_log", repo_path=str(world.root.path))
    assert refusal.value.reason == "outside_grants"
    with pytest.raises(AstraError, match="failed"):
        world.call("mcp.git.git_create_branch", repo_path=str(repository), branch_name="x")


def test_filesystem(world: ServersWorld, programs: Path) -> None:
    shelf = make_folder(world.folder / "shelf")
    script = f"{programs}/node/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
    names = sign(
        world,
        "files",
        f"/usr/bin/node {script} {shelf}",
        f'read_paths = ["{programs}/node"]',
        f'write_paths = ["{shelf}"]',
        '[mcp.servers.tiers]\nwrite_file = 1\n"read_*" = 0\n"list_*" = 0',
        '[[mcp.servers.arguments]]\ntool = "write_file"\nargument = "path"\nkind = "write_path"',
        '[[mcp.servers.arguments]]\ntool = "read_*"\nargument = "path"\nkind = "read_path"',
    )
    assert "mcp.files.write_file" in names
    world.call("mcp.files.write_file", path=f"{shelf}/a.txt", content="kept")
    assert (shelf / "a.txt").read_text() == "kept"
    assert "kept" in world.call("mcp.files.read_text_file", path=f"{shelf}/a.txt")["text"]
    with pytest.raises(AstraError) as refusal:
        world.call("mcp.files.write_file", path=f"{world.folder}/b.txt", content="x")
    assert refusal.value.reason == "outside_grants"
    with pytest.raises(NeedsApproval):
        world.call("mcp.files.move_file", source=f"{shelf}/a.txt", destination=f"{shelf}/c.txt")


def test_sqlite(world: ServersWorld, programs: Path) -> None:
    shelf = make_folder(world.folder / "shelf")
    sign(
        world,
        "sqlite",
        f"{programs}/py/bin/mcp-server-sqlite --db-path {shelf}/data.db",
        f'write_paths = ["{shelf}"]',
        "[mcp.servers.tiers]\ncreate_table = 1\nwrite_query = 1\nread_query = 0",
    )
    world.call("mcp.sqlite.create_table", query="CREATE TABLE fruit (name TEXT)")
    world.call("mcp.sqlite.write_query", query="INSERT INTO fruit VALUES ('quince')")
    assert "quince" in world.call("mcp.sqlite.read_query", query="SELECT * FROM fruit")["text"]
    assert len(world.records("tool_started")) == 2


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/page" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><p>hello from outside</p></body></html>")

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def online(tmp_path: Path) -> Iterator[ServersWorld]:
    """A world whose internet is one web server on loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, args=[0.02], daemon=True).start()
        internet = Internet(
            resolve=lambda _host, _port: ["93.184.216.34"],
            dial=lambda _address, _port: socket.create_connection(page.server_address),
        )
        world = ServersWorld(tmp_path, internet=internet)
        yield world
        world.close()
        page.shutdown()


def test_fetch(online: ServersWorld, programs: Path) -> None:
    sign(
        online,
        "fetch",
        f"{programs}/py/bin/mcp-server-fetch --ignore-robots-txt --proxy-url http://127.0.0.1:3128",
        'network = ["example.com"]',
        "[mcp.servers.tiers]\nfetch = 0",
        '[[mcp.servers.arguments]]\nargument = "url"\nkind = "host"',
    )
    text = online.call("mcp.fetch.fetch", url="http://example.com/page", raw=True)["text"]
    assert "hello from outside" in text
    (attempt,) = online.records("egress_attempted")
    assert (attempt.actor, attempt.data["host"]) == ("server:fetch", "example.com")
    with pytest.raises(AstraError) as refusal:
        online.call("mcp.fetch.fetch", url="http://evil.example.net/page")
    assert refusal.value.reason == "outside_grants"


@pytest.mark.skipif(not CHROMIUM.exists(), reason="Debian's Chromium is not installed")
def test_a_browser(online: ServersWorld, programs: Path) -> None:
    """Chromium in a box, driven by the server that browsers' makers offer."""
    script = f"{programs}/node/node_modules/@playwright/mcp/cli.js"
    names = sign(
        online,
        "browser",
        f"/usr/bin/node {script} --headless --no-sandbox --isolated"
        f" --executable-path {CHROMIUM} --proxy-server http://127.0.0.1:3128",
        f'read_paths = ["{programs}/node"]',
        'network = ["example.com"]',
        "memory_mb = 2048\ncall_seconds = 240",
        '[mcp.servers.tiers]\nbrowser_navigate = 0\nbrowser_snapshot = 0\n"browser_*" = 1',
        '[[mcp.servers.arguments]]\nargument = "url"\nkind = "host"',
    )
    assert "mcp.browser.browser_navigate" in names
    shown = online.call("mcp.browser.browser_navigate", url="http://example.com/page")["text"]
    seen = online.call("mcp.browser.browser_snapshot")["text"]
    assert "hello from outside" in shown + seen
    assert {attempt.data["host"] for attempt in online.records("egress_attempted")} >= {
        "example.com"
    }
    with pytest.raises(AstraError) as refusal:
        online.call("mcp.browser.browser_navigate", url="http://evil.example.net/page")
    assert refusal.value.reason == "outside_grants"


@pytest.mark.parametrize("generation", ["first", "second"])
def test_a_server_of_the_official_sdk_over_http(
    tmp_path: Path, programs: Path, generation: str
) -> None:
    host = "tools.example.com"
    write_certificate(tmp_path, host)
    python = f"{programs}/py/bin/python" if generation == "first" else sys.executable
    command = [python, SDK_SERVER, tmp_path / "server.pem", tmp_path / "server.key", host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        trust = ssl.create_default_context(cafile=tmp_path / "server.pem")
        internet = Internet(
            resolve=lambda _host, _port: ["93.184.216.34"],
            dial=lambda _address, _port: socket.create_connection(("127.0.0.1", port)),
            trust=lambda: trust,
        )
        world = ServersWorld(tmp_path, internet=internet)
        try:
            world.sign(
                f'[[mcp.servers]]\nname = "sdk"\nurl = "https://{host}/mcp"\n'
                "[mcp.servers.tiers]\nadd = 0"
            )
            world.accept("sdk")
            assert "5" in world.call("mcp.sdk.add", first=2, second=3)["text"]
            attempts = world.records("egress_attempted")
            assert {attempt.data["host"] for attempt in attempts} == {host}
        finally:
            world.close()
            process.terminate()
