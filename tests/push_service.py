"""A push service and a browser on this machine: takes messages over TLS, and can read its own.

The browser's side of RFC 8291 is written here a second time, so that what arrives is proven by
somebody else than whoever sent it.
"""

import datetime as dt
import json
import ssl
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

HOST = "push.example.org"
CURVE = ec.SECP256R1()


def text(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def content(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    form = serialization.PublicFormat.UncompressedPoint
    return key.public_bytes(serialization.Encoding.X962, form)


class Browser:
    """Who subscribed: its keys, and how it reads a message."""

    def __init__(self, path: str = "one", host: str = HOST) -> None:
        self.private = ec.generate_private_key(CURVE)
        self.auth = b"sixteen bytes ok"
        self.endpoint = f"https://{host}/send/{path}"

    def subscription(self) -> dict[str, Any]:
        keys = {"p256dh": text(point(self.private.public_key())), "auth": text(self.auth)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def read(self, body: bytes) -> bytes:
        """Decrypt one message as RFC 8291 and RFC 8188 say; padding is taken off."""
        salt, length = body[:16], body[20]
        assert int.from_bytes(body[16:20], "big") >= len(body) - 21 - length
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        public = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender)
        shared = self.private.exchange(ec.ECDH(), public)
        about = b"WebPush: info\x00" + point(self.private.public_key()) + sender
        secret = _expanded(shared, self.auth, about, 32)
        key = _expanded(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = _expanded(secret, salt, b"Content-Encoding: nonce\x00", 12)
        padded = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\x00")
        assert padded.endswith(b"\x02")
        return padded[:-1]


def _expanded(secret: bytes, salt: bytes, about: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, about).derive(secret)


def proven(authorization: str) -> dict[str, Any]:
    """Check a sender's proof (RFC 8292) and give its claims with the key it names."""
    scheme, _, rest = authorization.partition(" ")
    assert scheme == "vapid"
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    signed, _, signature = parts["t"].rpartition(".")
    raw = content(signature)
    numbers = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, content(parts["k"]))
    try:
        der = utils.encode_dss_signature(*numbers)
        key.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise AssertionError("the proof is not signed by the key it names") from None
    head, _, claims = signed.partition(".")
    assert json.loads(content(head)) == {"typ": "JWT", "alg": "ES256"}
    return {**json.loads(content(claims)), "k": parts["k"]}


class PushService(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 201
        self.ended = threading.Event()
        certificate, key = _certificate(folder)
        self.trusted = ssl.create_default_context(cafile=str(certificate))
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(certificate, key)
        self.socket = own.wrap_socket(self.socket, server_side=True)

    def places(self, host: str) -> list[tuple[str, int]]:
        """Where the service is: on this machine, which no address of a device may be."""
        return [("127.0.0.1", self.server_port)]

    def handle_error(self, *_words: Any) -> None:
        """Say nothing: some of those who come here leave early on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: PushService

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, dict(self.headers), body))
        if self.path.endswith("/hang"):
            self.server.ended.wait()
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", "https://127.0.0.1/elsewhere")
        self.end_headers()

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(CURVE)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "service.pem", folder / "service.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


@contextmanager
def serving(folder: Path) -> Iterator[PushService]:
    with PushService(folder) as service:
        thread = threading.Thread(target=service.serve_forever, args=[0.02])
        thread.start()
        yield service
        service.ended.set()
        service.shutdown()
        thread.join()
