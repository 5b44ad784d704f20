"""Devices: browsers that asked to be told by Web Push, and for how long.

The ledger says whose they are and whether they count; where to send is an address that works for
whoever has it, so it stays out of the ledger, in a private file. A device counts while its record
is younger than thirty days, whoever subscribed it still stands (a passkey that is not revoked, a
token that is not over, a session that was not left), and its file is there.

The address is hostile input: the daemon will connect to it. Only services that are known, or that
the operator signed, are accepted, over https and at its usual port.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import urlsplit

from astra.notifications import encryption
from astra.trusted.kernel.clock import Clock, format_time, parse_time
from astra.trusted.kernel.errors import BadInput, NotFound, Refused
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import access, domains, enrolment
from astra.trusted.policy.access import Principal
from astra.trusted.policy.assertions import decode_base64url
from astra.trusted.policy.call import Role

SUBSCRIBED, FORGOTTEN = "device_subscribed", "device_forgotten"
SERVICES = (
    "fcm.googleapis.com",
    "*.push.services.mozilla.com",
    "*.notify.windows.com",
    "*.push.apple.com",
)
LIFETIME, RENEWED_WITH_LESS_LEFT = timedelta(days=30), timedelta(days=20)
MOST, MOST_OF_ONE = 20, 5
LONGEST_ENDPOINT = 1024
_HTTPS = 443


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a browser takes messages, and the keys to encrypt them with."""

    endpoint: str = field(repr=False)
    key: bytes = field(repr=False)
    auth: bytes = field(repr=False)

    @staticmethod
    def read(endpoint: Any, key: Any, auth: Any) -> "Address":
        """Take what a browser, or a file of ours, says; refuse whatever is not plainly right."""
        try:
            address = Address(
                endpoint=_check_endpoint(endpoint),
                key=decode_base64url(key),
                auth=decode_base64url(auth),
            )
        except ValueError as error:
            raise _not_acceptable(str(error)) from None
        if len(address.auth) != encryption.AUTH_BYTES or not encryption.is_point(address.key):
            raise _not_acceptable("its keys are none of Web Push")
        return address

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint).hostname or ""

    @property
    def device(self) -> str:
        return f"dev_{sha256(self.endpoint.encode()).hexdigest()[:16]}"


class Addresses(Protocol):
    """Where addresses are kept: apart from the ledger, for nobody else to read."""

    def read(self, device: str) -> Address | None: ...

    def write(self, device: str, address: Address) -> None: ...

    def remove(self, device: str) -> None: ...

    def devices(self) -> list[str]: ...


@dataclass(frozen=True, kw_only=True)
class Device:
    id: str
    service: str
    holder: str
    subscribed_at: str
    expires_at: str

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Devices:
    ledger: Ledger
    clock: Clock
    addresses: Addresses
    services: Callable[[], tuple[str, ...]] = tuple
    """Services that the operator signed, besides the known ones."""

    def subscribe(self, address: Address, who: Principal) -> Device:
        """Tell this browser from now on; asking again renews it."""
        self._check_service(address)
        device = self._find_device(address.device)
        holder = holder_of(who)
        if device and device.holder == holder and self._is_fresh(device):
            self.addresses.write(device.id, address)
            return device
        self._check_number(address.device, holder)
        self.addresses.write(address.device, address)
        self.ledger.append([self._make_subscribed_event(address, holder, actor=str(who))])
        self._remove_stale_files()
        return self.get(address.device)

    def unsubscribe(self, identifier: str, who: Principal) -> Device:
        """Forget a device for its holder, or for an operator."""
        device = self.get(identifier)
        if who.role is not Role.OPERATOR and device.holder != holder_of(who):
            raise Refused(
                "this device belongs to another session or token",
                code="wrong_holder",
                next_step="turn it off on that device, or ask an operator",
            )
        self.forget(identifier, reason="unsubscribed", actor=str(who))
        return device

    def forget(self, identifier: str, *, reason: str, actor: str) -> None:
        if self._find_device(identifier):
            data = {"device": identifier, "reason": reason}
            event = Event(type=FORGOTTEN, actor=actor, data=data, subject=identifier)
            self.ledger.append([event])
        self.addresses.remove(identifier)

    def get(self, identifier: str) -> Device:
        for device in self.list_devices():
            if device.id == identifier:
                return device
        raise NotFound(
            f"there is no device {identifier[:100]}", next_step="look at GET /api/devices"
        )

    def list_devices(self) -> list[Device]:
        """Give the devices that count now."""
        device_ids, now = set(self.addresses.devices()), self.clock.now()
        return [
            device
            for device in self._query_devices()
            if device.id in device_ids
            and device.expires_at > format_time(now)
            and _is_holder_valid(self.ledger, device.holder, now)
        ]

    def may_hear_content(self, device: Device) -> bool:
        """Tell whether whoever subscribed could still look: a session may be over by now."""
        kind, _, identifier = device.holder.partition(":")
        return kind != "session" or access.is_open(self.ledger, identifier, now=self.clock.now())

    def _check_service(self, address: Address) -> None:
        allowed = domains.parse_grants((*SERVICES, *self.services()))
        if not domains.allows(allowed, address.host, _HTTPS):
            raise Refused(
                f"{address.host[:100]} is no push service that is known here",
                code="unknown_push_service",
                next_step="name it in push_services of [notify] in astra.toml, and sign that",
            )

    def _check_number(self, device: str, holder: str) -> None:
        other_devices = [
            other_device for other_device in self.list_devices() if other_device.id != device
        ]
        own_devices = [
            other_device for other_device in other_devices if other_device.holder == holder
        ]
        if len(other_devices) >= MOST or len(own_devices) >= MOST_OF_ONE:
            raise Refused(
                f"there are {len(own_devices)} devices of yours and"
                f" {len(other_devices)} in all already",
                code="too_many_devices",
                next_step="turn notifications off on one that you do not use",
            )

    def _make_subscribed_event(self, address: Address, holder: str, *, actor: str) -> Event:
        data = {
            "device": address.device,
            "service": address.host,
            "holder": holder,
            "expires_at": format_time(self.clock.now() + LIFETIME),
        }
        return Event(type=SUBSCRIBED, actor=actor, data=data, subject=address.device)

    def _is_fresh(self, device: Device) -> bool:
        time_left = parse_time(device.expires_at) - self.clock.now()
        return time_left > RENEWED_WITH_LESS_LEFT

    def _remove_stale_files(self) -> None:
        """Remove the files of devices that do not count any more."""
        counting = {listed_device.id for listed_device in self.list_devices()}
        for device in self.addresses.devices():
            if device not in counting:
                self.addresses.remove(device)

    def _find_device(self, identifier: str) -> Device | None:
        return next((row for row in self._query_devices() if row.id == identifier), None)

    def _query_devices(self) -> list[Device]:
        columns = "id, service, holder, subscribed_at, expires_at"
        rows = self.ledger.query(f"SELECT {columns} FROM device ORDER BY subscribed_at, id")  # noqa: S608 - fixed text
        return [Device(**dict(zip(columns.split(", "), row, strict=True))) for row in rows]


def holder_of(who: Principal) -> str:
    """Name what a device depends on: the passkey behind a session, where there is one."""
    if who.by == "token":
        return f"token:{who.id}"
    return f"passkey:{who.passkey}" if who.passkey else f"session:{who.id}"


def _is_holder_valid(ledger: Ledger, holder: str, now: datetime) -> bool:
    kind, _, identifier = holder.partition(":")
    try:
        if kind == "passkey":
            return not enrolment.get(ledger, identifier).revoked_at
        if kind == "token":
            token = access.get_token(ledger, identifier)
            return not token.ended and token.expires_at > format_time(now)
    except NotFound:
        return False
    return access.is_not_ended(ledger, identifier)


def _check_endpoint(endpoint: Any) -> str:
    """Accept an address that no two programs could read differently."""
    if not isinstance(endpoint, str) or not 0 < len(endpoint) <= LONGEST_ENDPOINT:
        raise ValueError("its endpoint is too long, or none")
    if not endpoint.isascii() or any(not "!" <= letter <= "~" for letter in endpoint):
        raise ValueError("its endpoint has letters that no address has")
    if "\\" in endpoint or "#" in endpoint:
        raise ValueError("its endpoint has letters that no address of a service has")
    parts = urlsplit(endpoint)
    if parts.scheme != "https" or parts.port not in {None, _HTTPS}:
        raise ValueError("its endpoint is not https, at the usual port")
    if "@" in parts.netloc or not parts.path.startswith("/"):
        raise ValueError("its endpoint is no plain address")
    if domains.normalise_host(parts.hostname or "") != parts.netloc.removesuffix(f":{_HTTPS}"):
        raise ValueError("its endpoint's host is not plainly written")
    return endpoint


def _not_acceptable(why: str) -> BadInput:
    return BadInput(
        f"this subscription is not acceptable: {why}",
        code="bad_subscription",
        next_step="send what the browser's PushSubscription.toJSON() gives",
    )


def _apply_record(record: Record) -> Iterator[Statement]:
    data: Mapping[str, Any] = record.data
    if record.type == SUBSCRIBED:
        row = (record.subject, data["service"], data["holder"], record.time, data["expires_at"])
        yield "INSERT OR REPLACE INTO device VALUES (?, ?, ?, ?, ?)", row
    else:
        yield "DELETE FROM device WHERE id = ?", (record.subject,)


PROJECTION = Projection(
    "devices",
    (
        """CREATE TABLE device (
            id TEXT PRIMARY KEY, service TEXT, holder TEXT, subscribed_at TEXT, expires_at TEXT
        ) WITHOUT ROWID""",
    ),
    _apply_record,
    types=frozenset({SUBSCRIBED, FORGOTTEN}),
)
