"""The one way out of a box: a proxy for HTTP and HTTPS to granted hosts and ports.

It listens on a socket that lives in the box's own network namespace. For every connection it
decides once, on the normalised name and port; resolves the name itself and dials the very address
it checked; and, inside a tunnel, lets bytes pass only after the TLS client has asked for that same
name. One connection carries one request. What is let through is announced before it is dialled, so
that a crash hides nothing. Whatever happens, each attempt is reported once, with a reason out of a
closed list (`REASONS`) and the bytes that passed; when a word of it cannot be kept, nothing more
may leave. An attempt is `allowed` when anything left, whatever ended it afterwards: a record that
says refused means that no byte of it left.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field

from astra.trusted.egress import http_head, secured_request
from astra.trusted.egress.http_head import BadHead, Head
from astra.trusted.egress.proxy_request import (
    Denied,
    check_host_header,
    origin_request,
    parse_absolute_url,
    parse_authority,
    read_checked_hello,
)
from astra.trusted.egress.relay import ByteBudget, Meter, OverBudget, forward_body, relay
from astra.trusted.egress.secret_masking import SecretMasking
from astra.trusted.egress.secured_request import Answer, SecretHeader
from astra.trusted.egress.summary import EgressSummary
from astra.trusted.policy import domains
from astra.trusted.policy.addresses import is_of_own_network, is_public
from astra.trusted.policy.domains import DomainGrant

MOST_AT_ONCE = 64
REASONS = {
    "allowed": "the host and port are granted",
    "not_granted": "no grant names this host",
    "port_not_granted": "the host is granted, this port is not",
    "ip_literal": "an address instead of a name",
    "bad_host": "no host name",
    "userinfo": "a user name before the host",
    "host_mismatch": "the Host header names another host",
    "internal_address": "the name leads to this machine or its network",
    "cannot_resolve": "the name has no address",
    "cannot_connect": "the server did not answer",
    "not_tls": "something else than TLS in a tunnel",
    "sni_missing": "TLS without a server name",
    "sni_ambiguous": "TLS with more than one server name",
    "sni_mismatch": "TLS for another server than the tunnel",
    "socks": "the SOCKS protocol",
    "bad_request": "no HTTP request, or one that can be read in two ways",
    "repeated_header": "a header that may come once came twice",
    "ambiguous_length": "a body whose length can be read in two ways",
    "pipelined": "a second request behind the first",
    "nothing_sent": "a connection without a request",
    "timed_out": "silence for too long",
    "byte_limit": "more bytes than the run may send or receive",
    "too_many": "more connections than the run may make",
    "cannot_record": "an earlier attempt could not be recorded, so nothing more may leave",
    "ended": "the box ended",
    "no_secret": "no secret is for this host; without one, use a tunnel",
    "no_secret_value": "the secret for this host has no value that a header can carry",
    "bad_certificate": "the host has no certificate of its name",
    "bad_answer": "an answer that can be read in two ways",
    "encoded_answer": "an answer in an encoding that could hide a secret",
}
_UNGRANTED = ("not_granted", "port_not_granted")
_HEAD_SECONDS, _IDLE_SECONDS, _DIAL_SECONDS = 30.0, 300.0, 20.0


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One connection that the box tried to make."""

    host: str
    port: int
    allowed: bool
    reason: str
    sent: int = 0
    received: int = 0


Record = Callable[[Attempt], None]
Announce = Callable[[str, int], None]
NoteSecret = Callable[[str, str, int], None]
"""Takes the name of a secret, and the host and port that it is about to be sent to."""


def ignore_announcement(_host: str, _port: int) -> None:
    """Tell nobody that a connection begins."""


def ignore_secret(_name: str, _host: str, _port: int) -> None:
    """Tell nobody that a secret is added."""


@dataclass(frozen=True, kw_only=True)
class Internet:
    """How names become addresses and addresses connections; tests stand in for it."""

    resolve: Callable[[str, int], list[str]]
    dial: Callable[[str, int], socket.socket]
    inner_hosts: frozenset[str] = frozenset()
    """Hosts that the operator signed by name, which may be servers of their own network."""
    own_services: Mapping[str, Callable[[], socket.socket]] = field(
        default_factory=dict[str, Callable[[], socket.socket]]
    )
    """Names that Astra itself answers for, each with how it is connected; never looked up."""
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context
    """Gives what decides whose certificates count, where the proxy itself speaks TLS."""

    def may_dial(self, host: str, address: str) -> bool:
        return is_public(address) or (host in self.inner_hosts and is_of_own_network(address))


def _resolve_host(host: str, port: int) -> list[str]:
    address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for _family, _type, _protocol, _name, address in address_infos]


def _dial_address(address: str, port: int) -> socket.socket:
    return socket.create_connection((address, port), timeout=_DIAL_SECONDS)


PUBLIC_INTERNET = Internet(resolve=_resolve_host, dial=_dial_address)


@dataclass
class _Visit:
    """What is known so far about one connection."""

    host: str = ""
    port: int = 0
    sent: int = 0
    received: int = 0


@dataclass(kw_only=True)
class EgressProxy:
    grants: tuple[DomainGrant, ...]
    record: Record
    announce: Announce = ignore_announcement
    internet: Internet = PUBLIC_INTERNET
    secrets: tuple[SecretHeader, ...] = ()
    note_secret: NoteSecret = ignore_secret
    byte_limit: int = 2**30
    connection_limit: int = 1000
    _attempts: list[Attempt] = field(default_factory=list[Attempt])
    _live: set[socket.socket] = field(default_factory=set[socket.socket])
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _unrecorded: int = 0
    _record_failed: bool = False
    _closing: bool = False

    def __post_init__(self) -> None:
        self._budget = ByteBudget(self.byte_limit)
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._listener: socket.socket | None = None

    def serve(self, listener: socket.socket) -> None:
        self._listener = listener
        accepting = threading.Thread(target=self._accept_clients, name="egress", daemon=True)
        self._threads.append(accepting)
        accepting.start()

    def serve_connection(self, client: socket.socket) -> None:
        """Serve one connection that somebody in this process made with a pair of sockets."""
        if not self._places.acquire(timeout=_DIAL_SECONDS):
            client.close()
            return
        thread = threading.Thread(target=self._serve_client, args=(client,), daemon=True)
        with self._lock:
            self._threads = [*(t for t in self._threads if t.is_alive()), thread]
        thread.start()

    def close(self) -> EgressSummary:
        """End every connection, report those that were open, and sum up."""
        self._closing = True
        with self._lock:
            sockets = [*self._live, *([self._listener] if self._listener else [])]
        for connection in sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join(_DIAL_SECONDS)
        if self._listener:
            self._listener.close()
        return self.summarise_attempts()

    def summarise_attempts(self) -> EgressSummary:
        with self._lock:
            attempts = list(self._attempts)
        allowed_attempts = [attempt for attempt in attempts if attempt.allowed]
        refusals = [attempt.reason for attempt in attempts if not attempt.allowed]
        return EgressSummary(
            allowed=len(allowed_attempts),
            denied=len(attempts) - len(allowed_attempts),
            unrecorded=self._unrecorded,
            sent=sum(attempt.sent for attempt in attempts),
            received=sum(attempt.received for attempt in attempts),
            hosts=_list_hosts(allowed_attempts),
            ungranted=_list_hosts(
                connection_attempt
                for connection_attempt in attempts
                if connection_attempt.reason in _UNGRANTED
            ),
            refused=refusals[-1] if refusals else "",
        )

    def _accept_clients(self) -> None:
        listener = self._listener
        while listener is not None and not self._closing:
            try:
                client, _address = listener.accept()
            except OSError:
                return
            self._places.acquire()
            thread = threading.Thread(target=self._serve_client, args=(client,), daemon=True)
            self._threads = [*(t for t in self._threads if t.is_alive()), thread]
            thread.start()

    def _serve_client(self, client: socket.socket) -> None:
        visit = _Visit()
        try:
            with self._track_connection(client):
                reason = self._run_visit(client, visit)
                if reason != "allowed":
                    _answer_refusal(client, reason, visit)
        finally:
            self._places.release()

    def _run_visit(self, client: socket.socket, visit: _Visit) -> str:
        reason = "bad_request"
        try:
            self._pass_through(client, visit)
            reason = "allowed"
        except (Denied, BadHead) as denied:
            reason = denied.reason
        except OverBudget:
            reason = "byte_limit"
        except TimeoutError:
            reason = "timed_out"
        except OSError:
            reason = "ended" if visit.sent or visit.received else "cannot_connect"
        finally:
            self._report_visit(visit, reason)
        return reason

    def _pass_through(self, client: socket.socket, visit: _Visit) -> None:
        if self._record_failed:
            raise Denied("cannot_record")
        if len(self._attempts) + self._unrecorded >= self.connection_limit:
            raise Denied("too_many")
        client.settimeout(_HEAD_SECONDS)
        raw, surplus = http_head.read_head(client)
        head = http_head.parse_head(raw)
        if head.method == "CONNECT":
            self._open_tunnel(client, head, surplus, visit)
        elif head.target.startswith(secured_request.PREFIX):
            self._forward_secured(client, head, surplus, visit)
        else:
            self._forward_request(client, head, surplus, visit)

    def _open_tunnel(self, client: socket.socket, head: Head, rest: bytes, visit: _Visit) -> None:
        visit.host, visit.port = parse_authority(head.target, None)
        with self._track_connection(self._connect_server(visit)) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            hello = read_checked_hello(client, rest, visit.host)
            server.settimeout(_IDLE_SECONDS)
            client.settimeout(_IDLE_SECONDS)
            meter = Meter(budget=self._budget, counts=visit)
            meter.send(server, hello)
            relay(client, server, meter, idle=_IDLE_SECONDS)

    def _forward_request(
        self, client: socket.socket, head: Head, rest: bytes, visit: _Visit
    ) -> None:
        visit.host, visit.port, path = parse_absolute_url(head.target)
        check_host_header(head, visit.host, visit.port)
        length = http_head.body_length(head)
        with self._track_connection(self._connect_server(visit)) as server:
            server.settimeout(_IDLE_SECONDS)
            if "100-continue" in (head.header_value("expect") or "").lower():
                client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            meter = Meter(budget=self._budget, counts=visit)
            meter.send(server, origin_request(head, path))
            if forward_body(client, server, rest, length, meter):
                raise Denied("pipelined")
            if not relay(client, server, meter, idle=_IDLE_SECONDS, client_may_send=False):
                raise Denied("pipelined")

    def _forward_secured(
        self, client: socket.socket, head: Head, rest: bytes, visit: _Visit
    ) -> None:
        """Take a request to its host over TLS, with the secret that is for that host."""
        visit.host, visit.port, path = secured_request.parse_target(head.target)
        secrets = secured_request.find_secrets(self.secrets, visit.host, visit.port)
        length = http_head.body_length(head)
        values = {item: item.read_value() for item in secrets}
        added = {
            item.secret.header: item.secret.template.replace("{secret}", value)
            for item, value in values.items()
        }
        port = "" if visit.port == secured_request.TLS_PORT else f":{visit.port}"
        request = secured_request.build_request(head, path, f"{visit.host}{port}", added)
        masking = SecretMasking((*values.values(), *added.values()))
        plain = self._connect_server(visit)
        plain.settimeout(_DIAL_SECONDS)
        secured = secured_request.secure(plain, visit.host, self.internet.trust())
        with self._track_connection(secured) as server:
            server.settimeout(_IDLE_SECONDS)
            self._note_secrets(secrets, visit)
            meter = Meter(budget=self._budget, counts=visit)
            meter.send(server, request)
            if forward_body(client, server, rest, length, meter):
                raise Denied("pipelined")
            has_body = head.method != "HEAD"
            answer = Answer(server, masking, meter.count_received, has_body=has_body)
            for part in answer.read():
                client.sendall(part)

    def _note_secrets(self, secrets: tuple[SecretHeader, ...], visit: _Visit) -> None:
        try:
            for item in secrets:
                self.note_secret(item.secret.name, visit.host, visit.port)
        except Exception:  # noqa: BLE001 - whatever keeps a record from being kept closes the door
            self._record_failed = True
            raise Denied("cannot_record") from None

    def _connect_server(self, visit: _Visit) -> socket.socket:
        """Decide on the name, then on each address; the address that passes is the one dialled."""
        if not domains.allows(self.grants, visit.host, visit.port):
            has_host_grant = domains.names_host(self.grants, visit.host)
            raise Denied("port_not_granted" if has_host_grant else "not_granted")
        if connect := self.internet.own_services.get(visit.host):
            self._announce_visit(visit)
            return connect()
        try:
            addresses = self.internet.resolve(visit.host, visit.port)
        except (OSError, UnicodeError):
            raise Denied("cannot_resolve") from None
        public = [address for address in addresses if self.internet.may_dial(visit.host, address)]
        if not public:
            raise Denied("internal_address" if addresses else "cannot_resolve")
        self._announce_visit(visit)
        for address in public:
            with contextlib.suppress(OSError):
                return self.internet.dial(address, visit.port)
        raise Denied("cannot_connect")

    def _announce_visit(self, visit: _Visit) -> None:
        try:
            self.announce(visit.host, visit.port)
        except Exception:  # noqa: BLE001 - whatever keeps a record from being kept closes the door
            self._record_failed = True
            raise Denied("cannot_record") from None

    def _report_visit(self, visit: _Visit, reason: str) -> None:
        attempt = Attempt(
            host=visit.host,
            port=visit.port,
            allowed=bool(visit.host) and (reason in {"allowed", "ended"} or visit.sent > 0),
            reason=reason,
            sent=visit.sent,
            received=visit.received,
        )
        with self._lock:
            # A flood of attempts must not become a flood of records.
            flood = len(self._attempts) >= self.connection_limit + 1
            if flood:
                self._unrecorded += 1
            else:
                self._attempts.append(attempt)
        if not flood:
            self._write_down(attempt)

    def _write_down(self, attempt: Attempt) -> None:
        try:
            self.record(attempt)
        except Exception:  # noqa: BLE001 - whatever keeps a record from being kept closes the door
            with self._lock:
                self._record_failed = True
                self._unrecorded += 1

    @contextlib.contextmanager
    def _track_connection(self, connection: socket.socket) -> Generator[socket.socket, None, None]:
        with self._lock:
            self._live.add(connection)
        try:
            with connection:
                yield connection
        finally:
            with self._lock:
                self._live.discard(connection)


def _list_hosts(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    return tuple(sorted({f"{attempt.host}:{attempt.port}" for attempt in attempts}))


def _answer_refusal(client: socket.socket, reason: str, visit: _Visit) -> None:
    """Say inside the box what was refused, unless a tunnel or an answer already began."""
    if visit.sent or visit.received or reason in {"nothing_sent", "socks", "timed_out"}:
        return
    target = f"{visit.host}:{visit.port}" if visit.host else "this request"
    text = f"Astra's sandbox refused {target}: {REASONS[reason]} ({reason})\n".encode()
    head = (
        f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
        f"X-Astra-Refused: {reason}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError):
        client.sendall(head.encode() + text)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(1.0)
        while client.recv(65536):
            pass
