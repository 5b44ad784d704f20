"""Git remotes as people have them, on this machine: over HTTP(S) with a token, over SSH by key."""

import base64
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from deploying import until

SSHD = "/usr/sbin/sshd"
_BACKEND = "/usr/lib/git-core/git-http-backend"


def make_bare(folder: Path, branch: str = "main") -> Path:
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", branch, folder], check=True)
    subprocess.run(["git", "-C", folder, "config", "http.receivepack", "true"], check=True)
    return folder


def read_ref(repository: Path, branch: str) -> str:
    command = ["git", "-C", str(repository), "rev-parse", "-q", "--verify", f"refs/heads/{branch}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


class SmartHttp(ThreadingHTTPServer):
    """`git http-backend` behind a small server that wants a token."""

    daemon_threads = True

    def __init__(self, repositories: Path, token: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _GitHandler)
        self.repositories = repositories
        self.token = token
        self.redirect_to = ""
        self.authorizations: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"

    def speak_tls(self, certificates: Path) -> None:
        """Be a server over HTTPS, with the certificate for localhost in a folder."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )
        self.address = f"https://localhost:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about those who hang up."""


class _GitHandler(BaseHTTPRequestHandler):
    server: SmartHttp

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            self._serve(self._read_chunks())
        else:
            self._serve(self.rfile.read(int(self.headers["Content-Length"])))

    def _read_chunks(self) -> bytes:
        parts = list[bytes]()
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _serve(self, body: bytes) -> None:
        authorization = self.headers.get("Authorization", "")
        self.server.authorizations.append(authorization)
        if self.server.redirect_to:
            self._answer(301, [("Location", self.server.redirect_to + self.path)], b"")
        elif self.server.token and not self._is_authorized(authorization):
            self._answer(401, [("WWW-Authenticate", "Basic")], b"who are you?")
        else:
            self._answer(*self._run_backend(body))

    def _is_authorized(self, authorization: str) -> bool:
        scheme, _, value = authorization.partition(" ")
        password = base64.b64decode(value).decode().partition(":")[2] if scheme == "Basic" else ""
        return password == self.server.token

    def _run_backend(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        path, _, query = self.path.partition("?")
        environment = {
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self.server.repositories),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH": os.environ["PATH"],
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": "astra",
            "REQUEST_METHOD": self.command,
        }
        finished = subprocess.run(
            [_BACKEND], input=body, env=environment, capture_output=True, check=True
        )
        head, _, content = finished.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(": ") for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, _, value in lines if name == "Status"), 200)
        return status, [(name, value) for name, _, value in lines if name != "Status"], content

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def smart_http(
    repositories: Path, token: str = "", certificates: Path | None = None
) -> Iterator[SmartHttp]:
    with SmartHttp(repositories, token) as server:
        if certificates:
            server.speak_tls(certificates)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@dataclass
class SecureShell:
    """OpenSSH's own server, with keys and a port of its own."""

    folder: Path
    port: int = 0
    user: str = field(default_factory=lambda: pwd.getpwuid(os.getuid()).pw_name)

    @property
    def client_key(self) -> Path:
        return self.folder / "client"

    @property
    def known_host(self) -> str:
        public = (self.folder / "host.pub").read_text().split()
        return f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n"

    def address(self, repository: Path) -> str:
        return f"ssh://{self.user}@127.0.0.1:{self.port}{repository}"

    def lend_key(self, keys: Path) -> Path:
        """Give a data root the client's key and the name of this host."""
        keys.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.client_key, keys / "push.key")
        (keys / "push.key").chmod(0o600)
        (keys / "known_hosts").write_text(self.known_host)
        return keys / "push.key"


@contextmanager
def secure_shell(folder: Path) -> Iterator[SecureShell]:
    folder.mkdir(parents=True)
    for name in ("host", "client"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    service = SecureShell(folder, port)
    shutil.copyfile(folder / "client.pub", folder / "authorized")
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\n"
        f"AuthorizedKeysFile {folder}/authorized\nPidFile none\nStrictModes no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
    )
    if os.getuid() == 0:  # then it insists on an empty folder of root's
        Path("/run/sshd").mkdir(exist_ok=True)
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=log, start_new_session=True
    )
    try:
        until(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        yield service
    finally:
        process.terminate()
        process.wait()
        log.close()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
    except OSError:
        return False
