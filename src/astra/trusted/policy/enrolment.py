"""Enrolling and revoking passkeys. Enrolling takes the operator's key; revoking takes nothing."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import assertions, authority, passkeys
from astra.trusted.policy.assertions import Credential
from astra.trusted.policy.authority import Signed

_NAME = re.compile(r"[\w .@:+-]{1,60}")
_MEMBERS = ("passkey", "name", "credential", "public_key", "site", "origin", "counter")


@dataclass(frozen=True, kw_only=True)
class Passkey:
    id: str
    name: str
    credential: str
    site: str
    origin: str
    enrolled_at: str
    revoked_at: str
    operator: str
    """Whose it is: the operator whose key enrolled it."""

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def content(credential: Credential, *, name: str) -> dict[str, Any]:
    """Give what an operator signs to let a passkey decide in their name."""
    if not _NAME.fullmatch(name):
        raise BadInput(
            "a passkey's name has letters, digits and spaces, up to 60",
            next_step="astra passkeys enroll --name 'my phone'",
        )
    return {
        "passkey": passkey_id(credential.id),
        "name": name,
        "credential": assertions.encode_base64url(credential.id),
        "public_key": assertions.encode_base64url(credential.public_key),
        "site": credential.site,
        "origin": credential.origin,
        "counter": credential.counter,
    }


def passkey_id(credential: bytes) -> str:
    return f"pky_{hashlib.sha256(credential).hexdigest()[:16]}"


def enroll(ledger: Ledger, wanted: Mapping[str, Any], signed: Signed, *, now: datetime) -> Record:
    """Record a passkey that the operator's key speaks for."""
    try:
        same = content(passkeys.credential(wanted), name=str(wanted["name"]))
    except (KeyError, TypeError, ValueError):
        same = {}
    if same != dict(wanted):
        raise BadInput(
            f"a passkey has {', '.join(_MEMBERS)}", next_step="use `astra passkeys enroll`"
        )
    identifier = str(wanted["passkey"])
    event = Event(type=passkeys.ENROLLED, actor="operator", data=dict(wanted), subject=identifier)
    event = authority.signed_event(ledger, event, signed, now=now)
    (record,) = ledger.append([event], expect={identifier: 0})
    return record


def revoke(ledger: Ledger, identifier: str, *, actor: str) -> Passkey:
    """Silence a passkey from here on; doing it twice changes nothing."""
    if not get(ledger, identifier).revoked_at:
        data = {"passkey": identifier}
        ledger.append([Event(type=passkeys.REVOKED, actor=actor, data=data, subject=identifier)])
    return get(ledger, identifier)


def get(ledger: Ledger, identifier: str) -> Passkey:
    for passkey in list_passkeys(ledger):
        if passkey.id == identifier:
            return passkey
    raise NotFound(f"there is no passkey {identifier}", next_step="astra passkeys list")


def list_passkeys(ledger: Ledger) -> list[Passkey]:
    """Give the passkeys that the operator's key enrolled, revoked ones too."""
    revoked = {
        str(record.data["passkey"]): record.time
        for record in ledger.records(passkeys.REVOKED, limit=1000)
    }
    return [
        _passkey_from_record(record, revoked, operator=names[-1])
        for record in ledger.records(passkeys.ENROLLED, limit=1000)
        if (names := authority.find_signers(ledger, record))
    ]


def _passkey_from_record(record: Record, revoked: Mapping[str, str], *, operator: str) -> Passkey:
    data = record.data
    return Passkey(
        id=data["passkey"],
        name=data["name"],
        credential=data["credential"],
        site=data["site"],
        origin=data["origin"],
        enrolled_at=record.time,
        revoked_at=revoked.get(data["passkey"], ""),
        operator=operator,
    )
