"""Lets a box call a model without ever holding the key.

The box talks plain HTTP to its own loopback; outside, the gateway keeps what a model call needs
(path, body, a few named headers), drops everything else a client sent, its credentials first, adds
the operator's key, and calls the one endpoint the operator named. Calls, bytes and tokens are
capped, and every call, made or refused, is reported once. What a call may answer is bounded by what
is left of the tokens and set aside while it runs. A call cannot be redirected, and no other path of
the endpoint can be reached.
"""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from astra.adapters import http_head, model_ceiling
from astra.adapters.http_head import BadHead, Head
from astra.adapters.model_usage import reported_tokens
from astra.kernel.errors import BadSetting
from astra.policy.manifest import MIB

PREFIX = "/v1"
PATHS = {
    *("/chat/completions", "/completions", "/embeddings", "/responses"),
    *("/messages", "/messages/count_tokens", "/models"),
}
_KEPT_HEADERS = ("content-type", "accept", "anthropic-version", "anthropic-beta")
_ANSWERED_HEADERS = ("content-type", "retry-after", "request-id", "x-request-id")
MOST_AT_ONCE = 16
_REQUEST_SECONDS, _ANSWER_SECONDS = 30.0, 600.0
_CHUNK = 65536
_BYTES_PER_TOKEN = 3
_STATUS = {"calls": 429, "tokens": 429, "too_large": 413, "not_a_model_call": 403, "no_answer": 502}


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """The endpoint an operator named, for example https://models.example/v1."""

    url: str
    key: str = field(repr=False)
    key_header: str = "Authorization"
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise BadSetting(
                f"{self.url!r} is no model endpoint", next_step="give a URL: https://host/v1"
            )


@dataclass(frozen=True, kw_only=True)
class Caps:
    calls: int = 100
    tokens: int = 1_000_000
    request_bytes: int = 8 * MIB
    response_bytes: int = 32 * MIB


@dataclass(frozen=True, kw_only=True)
class Call:
    path: str
    model: str
    allowed: bool
    reason: str
    status: int
    tokens: int = 0
    sent: int = 0
    received: int = 0


@dataclass(frozen=True, kw_only=True)
class Spent:
    calls: int
    refused: int
    tokens: int


class _Refusal(Exception):
    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason


@dataclass(kw_only=True)
class ModelGateway:
    upstream: Upstream
    caps: Caps = field(default_factory=Caps)
    record: Callable[[Call], None] = lambda _call: None
    _calls: int = 0
    _refused: int = 0
    _tokens: int = 0
    _held: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _live: set[socket.socket] = field(default_factory=set[socket.socket])
    _closing: bool = False

    def __post_init__(self) -> None:
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)

    def serve(self, listener: socket.socket) -> None:
        self._listener, self._closing = listener, False
        threading.Thread(target=self._accept, name="model-gateway", daemon=True).start()

    def close(self) -> Spent:
        self._closing = True
        with self._lock:
            held = [*self._live, self._listener]
        for connection in held:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        return self.spent()

    def spent(self) -> Spent:
        with self._lock:
            return Spent(calls=self._calls, refused=self._refused, tokens=self._tokens)

    def _accept(self) -> None:
        while not self._closing:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            self._places.acquire()
            threading.Thread(target=self._visit, args=(client,), daemon=True).start()

    def _visit(self, client: socket.socket) -> None:
        with self._lock:
            self._live.add(client)
        try:
            with client:
                client.settimeout(_REQUEST_SECONDS)
                self._answer(client)
        except OSError:
            return  # the box went away; the call, if one was made, is on record
        finally:
            self._places.release()
            with self._lock:
                self._live.discard(client)

    def _answer(self, client: socket.socket) -> None:
        path = ""
        try:
            raw, rest = http_head.read(client)
            head = http_head.parse(raw)
            path = _model_path(head)
            body = self._body(client, head, rest)
            payload, held = self._admitted(head, path, body)
        except (_Refusal, BadHead) as refusal:
            self._refuse(client, path, refusal)
            return
        try:
            self._call(client, head, path, payload)
        finally:
            with self._lock:
                self._held -= held

    def _body(self, client: socket.socket, head: Head, rest: bytes) -> bytes:
        length = http_head.body_length(head)
        if length is None:
            raise _Refusal("bad_request", "send the body with a Content-Length")
        if length > self.caps.request_bytes:
            raise _Refusal("too_large", f"a call may send {self.caps.request_bytes} bytes")
        if "100-continue" in (head.one("expect") or "").lower():
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(rest) < length:
            more = client.recv(_CHUNK)
            if not more:
                raise _Refusal("bad_request", "the body ends early")
            rest += more
        return rest[:length]

    def _admitted(self, head: Head, path: str, body: bytes) -> tuple[dict[str, Any], int]:
        """Take one call off the account, bound what it may answer, and hold that much back."""
        payload = _payload(head, body)
        model = str(payload.get("model", ""))
        if self.upstream.models and model not in self.upstream.models and head.method == "POST":
            raise _Refusal("not_a_model_call", f"the model {model!r} is not offered")
        with self._lock:
            left = self.caps.tokens - self._tokens - self._held
            if self._calls >= self.caps.calls:
                raise _Refusal("calls", f"this run may make {self.caps.calls} calls")
            if left <= 0:
                raise _Refusal("tokens", f"this run may use {self.caps.tokens} tokens")
            self._calls += 1
            held = model_ceiling.bound(path, payload, left)
            self._held += held
        if payload.get("stream") is True and path == "/chat/completions":
            payload["stream_options"] = {"include_usage": True}
        return payload, held

    def _call(self, client: socket.socket, head: Head, path: str, payload: dict[str, Any]) -> None:
        body = json.dumps(payload).encode() if head.method == "POST" else b""
        status, received, reason = 502, b"", "no_answer"
        try:
            with contextlib.closing(self._connection()) as upstream:
                upstream.request(head.method, self._target(path), body, self._headers(head))
                answer = upstream.getresponse()
                status, reason = answer.status, "allowed"
                received = _stream(client, answer, self.caps.response_bytes)
        except (OSError, http.client.HTTPException):
            if reason == "no_answer":
                self._say(client, _Refusal("no_answer", "the model endpoint did not answer"))
        finally:
            tokens = reported_tokens(received) or (len(body) + len(received)) // _BYTES_PER_TOKEN
            with self._lock:
                self._tokens += tokens
            self.record(
                Call(
                    path=path,
                    model=str(payload.get("model", "")),
                    allowed=True,
                    reason=reason,
                    status=status,
                    tokens=tokens,
                    sent=len(body),
                    received=len(received),
                )
            )

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.upstream.url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        return kind(parts.hostname or "", parts.port, timeout=_ANSWER_SECONDS)

    def _target(self, path: str) -> str:
        return urlsplit(self.upstream.url).path.rstrip("/") + path

    def _headers(self, head: Head) -> dict[str, str]:
        kept = {name: value for name in _KEPT_HEADERS if (value := head.one(name)) is not None}
        bearer = self.upstream.key_header.lower() == "authorization"
        key = f"Bearer {self.upstream.key}" if bearer else self.upstream.key
        return {**kept, self.upstream.key_header: key, "Accept-Encoding": "identity"}

    def _refuse(self, client: socket.socket, path: str, refusal: _Refusal | BadHead) -> None:
        status = _STATUS.get(refusal.reason, 400)
        with self._lock:
            self._refused += 1
        self.record(Call(path=path, model="", allowed=False, reason=refusal.reason, status=status))
        self._say(client, refusal)

    def _say(self, client: socket.socket, refusal: _Refusal | BadHead) -> None:
        error = {"type": refusal.reason, "message": f"Astra's gateway: {refusal}"}
        body = json.dumps({"error": error}).encode()
        status = _STATUS.get(refusal.reason, 400)
        head = (
            f"HTTP/1.1 {status} Refused\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            client.sendall(head.encode() + body)


def _model_path(head: Head) -> str:
    path = head.target.partition("?")[0]
    known = path.startswith(PREFIX) and path.removeprefix(PREFIX) in PATHS
    wanted = "GET" if path == f"{PREFIX}/models" else "POST"
    if not known or head.method != wanted:
        raise _Refusal("not_a_model_call", f"{head.method} {path} is not offered")
    return path.removeprefix(PREFIX)


def _payload(head: Head, body: bytes) -> dict[str, Any]:
    if head.method == "GET":
        return {}
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise _Refusal("bad_request", "the body is no JSON object")
    return cast("dict[str, Any]", payload)


def _stream(client: socket.socket, answer: http.client.HTTPResponse, most: int) -> bytes:
    """Pass the answer on as it comes; give what was passed."""
    kept = [f"{n}: {v}" for n in _ANSWERED_HEADERS if (v := answer.getheader(n)) is not None]
    lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *kept, "Connection: close", "", ""]
    client.sendall("\r\n".join(lines).encode("latin-1"))
    passed = bytearray()
    while len(passed) < most:
        data = answer.read1(_CHUNK)
        if not data:
            break
        passed += data
        client.sendall(data)
    return bytes(passed)
