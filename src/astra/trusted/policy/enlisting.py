"""Enrolling and removing operators, their roles and rules.

A person who wants to become an operator makes a key and a request, which that key signs. An
operator reads the request, adds a role and signs both. Nothing secret travels either way.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from astra.trusted.kernel import signatures
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import access, authority, enrolment, operators
from astra.trusted.policy.authority import Signed

KIND = "astra-operator-request"
_MEMBERS = frozenset({"kind", "version", "data_root", "name", "key", "signature"})


def build_request(root_id: str, name: str, pair: KeyPair) -> dict[str, Any]:
    """Give the request that a new operator hands to an operator, signed by the new key."""
    operators.check_name(name)
    return {
        "kind": KIND,
        "version": 1,
        "data_root": root_id,
        "name": name,
        "key": pair.public,
        "signature": pair.sign(operators.request_bytes(root_id, name, pair.public)),
    }


def read_request(value: Any, *, root_id: str) -> dict[str, str]:
    """Read a request that was handed over: whose it is, and the proof that the key is theirs."""
    if not isinstance(value, dict) or cast("dict[str, Any]", value).keys() != _MEMBERS:
        raise _build_bad_request("this is not a request of `astra operators request`")
    members = cast("dict[str, Any]", value)
    if (members["kind"], members["version"]) != (KIND, 1):
        raise _build_bad_request("this is not a request that this version understands")
    if members["data_root"] != root_id:
        raise _build_bad_request("it was made for another data root")
    name, key, proof = (str(members[member]) for member in ("name", "key", "signature"))
    operators.check_name(name)
    if not signatures.verify(key, operators.request_bytes(root_id, name, key), proof):
        raise _build_bad_request("it was changed, or not signed by the key that it names")
    return {"name": name, "key": key, "proof": proof}


def record_change(
    ledger: Ledger, action: str, content: Mapping[str, Any], signed: Signed, *, now: datetime
) -> Record:
    """Record a change of operators, roles or rules, once enough operators signed for it."""
    if action not in operators.CHANGES:
        raise BadInput(f"{action[:40]!a} changes no operator", next_step="astra operators --help")
    version, council = ledger.version(operators.SUBJECT), authority.find_keys(ledger)
    operators.advance(council, action, content, time="", names=())
    event = authority.signed_event(ledger, _build_event(action, content), signed, now=now)
    closings = _end_access(ledger, content, event) if action == operators.REMOVED else ()
    record, *_ = ledger.append([event, *closings], expect={operators.SUBJECT: version})
    return record


def _build_event(action: str, content: Mapping[str, Any]) -> Event:
    fields: dict[str, Any] = {
        "actor": "operator",
        "data": dict(content),
        "subject": operators.SUBJECT,
    }
    events = (
        Event(type=operators.ENROLLED, **fields),
        Event(type=operators.REMOVED, **fields),
        Event(type=operators.ROLE_SET, **fields),
        Event(type=operators.RULES_SET, **fields),
        Event(type=operators.USERS_SET, **fields),
    )
    return next(event for event in events if event.type == action)


def _end_access(ledger: Ledger, content: Mapping[str, Any], removal: Event) -> Iterator[Event]:
    """End what a removed operator acts with: sessions, and tokens of their own."""
    yield from _close_sessions(ledger, content, removal)
    for token in access.list_belonging(ledger, str(content["name"])):
        yield Event(
            type=access.TOKEN_REVOKED,
            actor=removal.actor,
            data={"token": token.id},
            subject=token.id,
            correlation=removal.correlation,
        )


def _close_sessions(ledger: Ledger, content: Mapping[str, Any], removal: Event) -> Iterator[Event]:
    """End the sessions that passkeys of a removed operator opened, revoked ones included."""
    owners = {passkey.id: passkey.operator for passkey in enrolment.list_passkeys(ledger)}
    rows = ledger.query("SELECT id, passkey FROM session WHERE ended = '' AND passkey != ''")
    for session, passkey in rows:
        if owners.get(passkey) == content["name"]:
            yield Event(
                type=access.SESSION_CLOSED,
                actor=removal.actor,
                data={"session": session},
                subject=session,
                correlation=removal.correlation,
            )


def _build_bad_request(detail: str) -> BadInput:
    return BadInput(
        detail,
        code="bad_operator_request",
        next_step="have it made anew: astra operators request --name NAME",
    )
