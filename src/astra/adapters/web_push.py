"""Web Push: one encrypted message to one browser, through the service that its maker runs.

The address was given by whoever subscribed, so it is not trusted at sending either: the name is
resolved once, every address it has must be plainly public, the connection goes to one that was
checked, and the certificate must be that name's. No redirect is followed, no proxy of the
environment used, nothing of the answer read but its status; ten seconds after connecting it ends.
"""

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from astra.notifications import encryption
from astra.notifications.devices import Address, Device, Devices
from astra.notifications.encryption import ServerKey
from astra.notifications.outbox import Message
from astra.trusted.kernel.clock import Clock
from astra.trusted.policy.addresses import is_public

KEPT_SECONDS = 3600
"""How long a service keeps a message for a browser that is away: as long as it is news."""
LONGEST_CONTENT = 300
_HTTPS = 443
_GONE, _TAKEN = frozenset({404, 410}), range(200, 300)
Place = tuple[str, int]
Lookup = Callable[..., Sequence[tuple[Any, ...]]]


class Outcome(Enum):
    TAKEN = "taken"
    FAILED = "failed"
    GONE = "gone"


def public_places(host: str, *, lookup: Lookup = socket.getaddrinfo) -> list[Place]:
    """Resolve a name; nothing, if any of its addresses is this machine's, its network's or odd."""
    addresses = [str(row[4][0]) for row in lookup(host, _HTTPS, type=socket.SOCK_STREAM)]
    return [(address, _HTTPS) for address in addresses] if all(map(is_public, addresses)) else []


@dataclass(frozen=True, kw_only=True)
class WebPush:
    key: Callable[[], ServerKey]
    contact: str
    clock: Clock
    places: Callable[[str], Sequence[Place]] = public_places
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context
    seconds: float = 10.0

    def deliver(self, address: Address, message: bytes) -> Outcome:
        """Send a message; the address is gone when the service does not know it any more."""
        try:
            places = self.places(address.host)
            status = self._post_message(address, places[0], message) if places else 0
        except (OSError, ValueError, http.client.HTTPException):
            return Outcome.FAILED
        if status in _GONE:
            return Outcome.GONE
        return Outcome.TAKEN if status in _TAKEN else Outcome.FAILED

    def _post_message(self, address: Address, place: Place, message: bytes) -> int:
        body = encryption.encrypt(message, receiver=address.key, auth=address.auth)
        with _Pinned(address.host, place, self.trust(), self.seconds) as connection:
            path = address.endpoint.removeprefix("https://").partition("/")[2]
            connection.request("POST", f"/{path}", body, self._build_headers(address))
            return connection.getresponse().status

    def _build_headers(self, address: Address) -> dict[str, str]:
        return {
            "Authorization": self.key().authorization(
                f"https://{address.host}", contact=self.contact, now=self.clock.now()
            ),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(KEPT_SECONDS),
            "Topic": "astra",
            "Urgency": "high",
        }


class _Pinned(http.client.HTTPSConnection):
    """A connection to a place that was checked, under the name whose certificate it must show."""

    def __init__(self, host: str, place: Place, trust: ssl.SSLContext, seconds: float) -> None:
        super().__init__(host, timeout=seconds, context=trust)
        self._place, self._trust, self._seconds = place, trust, seconds
        self._limit: _Limit | None = None

    def connect(self) -> None:
        plain = socket.create_connection(self._place, self._seconds)
        self._limit = _Limit(plain, self._seconds)
        self.sock = self._trust.wrap_socket(plain, server_hostname=self.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
        if self._limit is not None:
            self._limit.lift()


class _Limit:
    """Ends a connection whose other end takes its time; whoever waits for it hears that at once."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection.dup()
        self._timer = threading.Timer(seconds, self._shut_connection)
        self._timer.daemon = True
        self._timer.start()

    def lift(self) -> None:
        self._timer.cancel()
        self._timer.join()
        self._connection.close()

    def _shut_connection(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, kw_only=True)
class DeviceChannels:
    """Devices as channels of the outbox; what a service does not know any more is forgotten."""

    devices: Devices
    push: WebPush
    include_content: bool = False
    known: dict[str, Device] = field(init=False)

    def __post_init__(self) -> None:
        devices_by_id = {device.id: device for device in self.devices.list_devices()}
        object.__setattr__(self, "known", devices_by_id)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.known)

    def send(self, name: str, message: Message) -> bool:
        address = self.devices.addresses.read(name)
        if address is None:
            return False
        content = message.content if self.devices.may_hear_content(self.known[name]) else ""
        outcome = self.push.deliver(address, _encode_payload(message, content))
        if outcome is Outcome.GONE:
            self.devices.forget(name, reason="gone", actor="daemon")
        return outcome is Outcome.TAKEN


def _encode_payload(message: Message, content: str) -> bytes:
    """Write what the service worker reads; without content it is where to look, and how many."""
    document: dict[str, Any] = {"opens": message.opens, "waiting": message.waiting}
    if content:
        document["text"] = content[:LONGEST_CONTENT]
    return json.dumps(document).encode()
