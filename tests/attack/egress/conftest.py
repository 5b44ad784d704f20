"""Loopback servers that stand for public names, and a proxy in front of them."""

import base64
import contextlib
import datetime as dt
import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from astra.trusted.egress.egress_proxy import Attempt, EgressProxy, Internet
from astra.trusted.policy.domains import parse_grants

PUBLIC = "93.184.216.34"
NAMES = ("example.com", "api.example.com", "registry.example.org", "evil.net")


@dataclass
class World:
    """The internet of a test: names, their addresses, and what servers and the proxy saw."""

    folder: Path
    addresses: dict[str, list[str]] = field(default_factory=dict)
    ports: dict[int, int] = field(default_factory=dict)
    seen: list[tuple[str, str, bytes]] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    opened: list[tuple[str, int]] = field(default_factory=list)

    @property
    def authority(self) -> Path:
        return self.folder / "cacert.pem"

    @property
    def internet(self) -> Internet:
        return Internet(resolve=self._resolve, dial=self._dial)

    def announce(self, host: str, port: int) -> None:
        self.opened.append((host, port))

    def _resolve(self, host: str, _port: int) -> list[str]:
        self.resolved.append(host)
        return self.addresses.get(host, [PUBLIC] if host in NAMES else [])

    def _dial(self, address: str, port: int) -> socket.socket:
        assert self.opened[-1][1] == port, "it was announced before it was dialled"
        self.dialled.append((address, port))
        if port not in self.ports:
            raise ConnectionRefusedError
        return socket.create_connection(("127.0.0.1", self.ports[port]), timeout=10)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(folder=tmp_path / "world")
    (made.folder / "pages").mkdir(parents=True)
    (made.folder / "pages" / "hello").write_text("hello")
    _write_certificates(made.folder)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(made.folder / "server.pem", made.folder / "server.key")
    with contextlib.ExitStack() as stack:
        made.ports = {
            80: stack.enter_context(_served(made, None)),
            443: stack.enter_context(_served(made, tls)),
            8443: stack.enter_context(_served(made, tls)),
        }
        yield made


class Echo(http.server.BaseHTTPRequestHandler):
    """A host that sends back what it was sent, in every way a test asks for."""

    protocol_version = "HTTP/1.1"
    heads: list[str]

    def do_GET(self) -> None:
        self.heads.append(f"{self.command} {self.path}\n{self.headers}")
        told = self.headers.get("Authorization", "nothing")
        getattr(self, f"answer_{self.path.strip('/').partition('?')[0] or 'plain'}")(told)

    do_POST = do_HEAD = do_GET  # noqa: N815 - the names of http.server

    def answer_plain(self, told: str) -> None:
        body = f"you sent {told}".encode()
        self.send(body, [("Content-Length", str(len(body))), ("X-Echo", told)])

    def answer_chunks(self, told: str) -> None:
        raw = told.encode()
        parts = [raw[index : index + 3] for index in range(0, len(raw), 3)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        self.send(body, [("Transfer-Encoding", "chunked")])

    def answer_spellings(self, told: str) -> None:
        value = told.removeprefix("Bearer ")
        body = f"{base64.b64encode(value.encode()).decode()} {value.encode().hex()}".encode()
        body += b" s3cr3t%2Fvalue%2Bx s3cr3t\\/value+x"
        self.send(body, [])

    def answer_zipped(self, told: str) -> None:
        self.send(told.encode(), [("Content-Encoding", "gzip")])

    def answer_redirect(self, told: str) -> None:
        location = [("Location", f"https://evil.net/?k={told}"), ("Content-Length", "0")]
        self.send(b"", location, status=302)

    def answer_twice(self, _told: str) -> None:
        self.send(b"xx", [("Content-Length", "2"), ("Content-Length", "50")])

    def send(self, body: bytes, headers: list[tuple[str, str]], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def heads(world: World) -> Iterator[list[str]]:
    """Serve the host that echoes at port 443; gives the heads it saw."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(world.folder / "server.pem", world.folder / "server.key")
    seen: list[str] = []
    handler = type("Handler", (Echo,), {"heads": seen})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.handle_error = lambda *_args: None
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        world.ports[443] = world.ports[8443] = server.server_address[1]
        yield seen
        server.shutdown()


@pytest.fixture
def proxy(world: World) -> Iterator[Callable[..., socket.socket]]:
    """Give a function that connects to a fresh proxy with the given grants."""
    with contextlib.ExitStack() as stack:

        def connect(*grants: str, **limits: int) -> socket.socket:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            made = EgressProxy(
                grants=parse_grants(grants or ("example.com",)),
                record=world.attempts.append,
                announce=world.announce,
                internet=world.internet,
                **limits,
            )
            made.serve(listener)
            stack.callback(made.close)
            client = socket.create_connection(listener.getsockname(), timeout=10)
            return stack.enter_context(client)

        yield connect


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the world's pages and notes what was asked."""

    protocol_version = "HTTP/1.1"
    world: World

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(self.world.folder / "pages"))

    def do_GET(self) -> None:
        self.world.seen.append(("GET", self.path, str(self.headers).encode()))
        super().do_GET()

    def do_POST(self) -> None:
        self.world.seen.append(("POST", self.path, self._body()))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _body(self) -> bytes:
        if "Content-Length" in self.headers:
            return self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def log_message(self, *_args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients of these tests hang up in every way; that is the point."""


@contextlib.contextmanager
def _served(world: World, tls: ssl.SSLContext | None) -> Iterator[int]:
    server = Server(("127.0.0.1", 0), type("PagesOfThis", (Pages,), {"world": world}))
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _write_certificates(folder: Path) -> None:
    authority_key, key = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    authority = _certificate(issuer, issuer, authority_key.public_key(), authority_key, ca=True)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.com")])
    server = _certificate(subject, issuer, key.public_key(), authority_key, ca=False)
    pem = serialization.Encoding.PEM
    (folder / "cacert.pem").write_bytes(authority.public_bytes(pem))
    (folder / "server.pem").write_bytes(server.public_bytes(pem))
    (folder / "server.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    *,
    ca: bool,
) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if ca:
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = builder.add_extension(usage, critical=True)
    else:
        names = x509.SubjectAlternativeName([x509.DNSName(name) for name in NAMES])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(signer, hashes.SHA256())
