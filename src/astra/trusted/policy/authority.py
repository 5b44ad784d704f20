"""Who may loosen: the operator, by a signature over exactly what was decided.

A statement names the action, its content, the data root and a record of its ledger, a nonce and an
expiry. It is accepted once (the nonce is a unique key of the ledger) and is checked again by
whoever relies on the record later: that a record is there, or says `operator`, proves nothing.

The operator's public key stands in the first record of the ledger. A new key is introduced by a
statement of the old one, or of the recovery key that `astra init` printed once.

A passkey that the operator's key has enrolled may sign too: its challenge is the hash of the
statement. It speaks from its enrolment to its revocation, and never about keys, passkeys, tokens,
the configuration, the sandbox, the clock or a restore.

Where the operator accepted the clock, time went back. A statement that was signed before that and
arrives after it would live longer than its signer meant, and is refused. A data root that was put
back to an older state does not know which statements were used since. What was signed before the
record of that restore is not accepted after it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast
from weakref import WeakKeyDictionary

from astra.trusted.kernel import canonical, signatures
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import SignatureRejected
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.formats import ROOT_CREATED
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Head, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, current_time, last_acceptance
from astra.trusted.ledger.verbs import END
from astra.trusted.policy import passkeys
from astra.trusted.policy.assertions import Assertion

KEY_ROTATED = "operator_key_rotated"
RESTORED = "ledger_restored"
KEY_ONLY = frozenset(
    {
        KEY_ROTATED,
        RESTORED,
        passkeys.ENROLLED,
        "token_created",
        "config_signed",
        "sandbox_off_allowed",
        CLOCK_ACCEPTED,
    }
)
"""What a passkey cannot sign: it would make itself, or somebody else, more than it is."""
LIFETIME = timedelta(minutes=10)
_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
_MEMBERS = frozenset({"action", "content", "data_root", "head", "nonce", "expires_at"})


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A statement and what is under it, as they travel and as they are recorded.

    `key` is a public key, with its signature in hex; or the id of a passkey, with its assertion.
    """

    statement: dict[str, Any]
    signature: str
    key: str
    assertion: Assertion | None = None

    def as_dict(self) -> dict[str, Any]:
        document = {"statement": self.statement, "signature": self.signature, "key": self.key}
        return {**document, **self.assertion.as_dict()} if self.assertion else document

    @staticmethod
    def read(value: Any) -> "Signed":
        try:
            return Signed(
                statement=dict(value["statement"]),
                signature=str(value["signature"]),
                key=str(value["key"]),
                assertion=Assertion.read(value) if "client_data" in value else None,
            )
        except (TypeError, KeyError, ValueError):
            raise _build_rejection("there is no signature") from None


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The data root's id, and the keys that may speak for its operator."""

    root_id: str
    operator: str
    recovery: str
    throwaway: bool


def draft(
    action: str, content: Mapping[str, Any], *, root_id: str, head: Head, now: datetime
) -> dict[str, Any]:
    """Write the statement that a person is about to sign.

    Its lifetime begins at the time that counts: where a clock was set back, that is the ledger's.
    """
    begins = current_time(now, head)
    return {
        "action": action,
        "content": dict(content),
        "data_root": root_id,
        "head": {"sequence": head.sequence, "hash": head.hash},
        "nonce": random_id("nonce"),
        "expires_at": format_time(begins + LIFETIME),
    }


def sign(statement: dict[str, Any], key: signatures.KeyPair) -> Signed:
    signature = key.sign(signatures.statement_bytes(statement))
    return Signed(statement=statement, signature=signature, key=key.public)


def signed_event(
    ledger: Ledger, event: Event, signed: Signed, *, now: datetime, allow_recovery: bool = False
) -> Event:
    """Give the event that records a signed decision, once its signature is checked.

    The event's data is the content that must have been signed, word for word.
    """
    _check_statement(
        ledger,
        signed,
        action=event.type,
        content=event.data,
        keys=find_keys(ledger),
        time=format_time(current_time(now, ledger.head())),
        before=ledger.head().sequence + 1,
        allow_recovery=allow_recovery,
    )
    return Event(
        type=event.type,
        actor="operator",
        data={**event.data, "authority": signed.as_dict()},
        correlation=event.correlation,
        subject=event.subject,
        key=f"nonce:{signed.statement['nonce']}",
        signed=True,
    )


def build_rotation_event(ledger: Ledger, new_key: str, signed: Signed, *, now: datetime) -> Event:
    """Introduce a new operator key, by the word of the old one or of the recovery key."""
    if not _PUBLIC_KEY.fullmatch(new_key):
        raise _build_rejection("the new key is not a public key")
    event = Event(type=KEY_ROTATED, actor="operator", data={"new_key": new_key})
    return signed_event(ledger, event, signed, now=now, allow_recovery=True)


def is_signed_by_operator(ledger: Ledger, record: Record) -> bool:
    """Tell whether a record carries the operator's signature over its own content."""
    return _is_signed_under(ledger, record, find_keys(ledger, before=record.sequence))


def _is_signed_under(ledger: Ledger, record: Record, trusted: Keys) -> bool:
    content = {name: value for name, value in record.raw_data.items() if name != "authority"}
    try:
        _check_statement(
            ledger,
            Signed.read(record.raw_data.get("authority")),
            action=record.type,
            content=content,
            keys=trusted,
            time=record.time,
            before=record.sequence,
            allow_recovery=record.type == KEY_ROTATED,
        )
    except SignatureRejected:
        return False
    return True


def find_keys(ledger: Ledger, *, before: int | None = None) -> Keys:
    """Read the keys in force, or those in force before a record."""
    key_history = _all_keys(ledger)
    place = END if before is None else before
    return next(
        trusted_keys for sequence, trusted_keys in reversed(key_history) if sequence < max(place, 2)
    )


_KNOWN: WeakKeyDictionary[Ledger, tuple[str, tuple[tuple[int, Keys], ...]]] = WeakKeyDictionary()
"""What was read of each open ledger, beside the hash of the newest record that could change it."""


def _all_keys(ledger: Ledger) -> tuple[tuple[int, Keys], ...]:
    """Give the keys since the beginning, and since each rotation that was properly signed.

    Only the first record and rotations have a say, and a chain never takes one back: as long as
    the newest rotation is the same record, so is the answer. Every signature is checked against
    it, so it is read anew only then.
    """
    newest = ledger.newest(KEY_ROTATED)
    mark = newest.hash if newest else ""
    cached_history = _KNOWN.get(ledger)
    if cached_history is None or cached_history[0] != mark:
        cached_history = mark, tuple(_read_keys(ledger))
        _KNOWN[ledger] = cached_history
    return cached_history[1]


def _read_keys(ledger: Ledger) -> Iterator[tuple[int, Keys]]:
    """Follow each rotation that is properly signed."""
    created = ledger.record(1)
    if created is None or created.type != ROOT_CREATED:
        raise _build_rejection("this ledger does not start with the creation of a data root")
    trusted_keys = Keys(
        root_id=created.data["root_id"],
        operator=created.data["operator_key"],
        recovery=created.data["recovery_key"],
        throwaway=bool(created.data["throwaway"]),
    )
    yield created.sequence, trusted_keys
    for record in ledger.records(KEY_ROTATED, limit=END):
        if _is_signed_under(ledger, record, trusted_keys):
            trusted_keys = replace(trusted_keys, operator=record.data["new_key"])
            yield record.sequence, trusted_keys


def _check_statement(
    ledger: Ledger,
    signed: Signed,
    *,
    action: str,
    content: Mapping[str, Any],
    keys: Keys,
    time: str,
    before: int,
    allow_recovery: bool,
) -> None:
    statement = signed.statement
    if statement.keys() != _MEMBERS:
        raise _build_rejection("the statement has missing or unknown parts")
    if statement["data_root"] != keys.root_id:
        raise _build_rejection("it was signed for another data root")
    if statement["action"] != action or not _is_same_content(statement["content"], content):
        raise _build_rejection("it was signed for something else")
    if str(statement["expires_at"]) < time:
        raise _build_rejection("it has expired")
    _check_signature(ledger, signed, keys, before, allow_recovery=allow_recovery)
    if not _knows_head(ledger, statement["head"], before):
        raise _build_rejection("it was signed for another state of the ledger")
    if statement["head"]["sequence"] < last_acceptance(ledger, before=before):
        raise _build_rejection("it was signed before the clock was accepted")
    if _was_signed_before_restore(ledger, statement["head"]["sequence"], before):
        raise _build_rejection("it was signed before this data root was restored")


def _check_signature(
    ledger: Ledger, signed: Signed, keys: Keys, before: int, *, allow_recovery: bool
) -> None:
    if signed.assertion:
        _check_passkey(ledger, signed, signed.assertion, before)
        return
    if signed.key not in ((keys.operator, keys.recovery) if allow_recovery else (keys.operator,)):
        raise _build_rejection("it was not signed with the operator's key")
    if not _signature_holds(signed):
        raise _build_rejection("the signature does not fit the statement")


def challenge(statement: dict[str, Any]) -> bytes:
    """Give what a passkey is asked to sign for a statement."""
    return hashlib.sha256(signatures.statement_bytes(statement)).digest()


def passkey_objection(
    ledger: Ledger, identifier: str, assertion: Assertion, challenge: bytes, *, before: int
) -> str:
    """Say why a passkey's answer does not count at a place in the chain, or nothing if it does."""
    return passkeys.find_objection(
        ledger,
        identifier,
        assertion,
        challenge,
        before=before,
        holds=lambda record: is_signed_by_operator(ledger, record),
    )


def _check_passkey(ledger: Ledger, signed: Signed, assertion: Assertion, before: int) -> None:
    if signed.statement["action"] in KEY_ONLY:
        raise _build_rejection("a passkey cannot decide this; it takes the operator's key")
    wrong = passkey_objection(
        ledger, signed.key, assertion, challenge(signed.statement), before=before
    )
    if wrong:
        raise _build_rejection(wrong)


def _is_same_content(left: Any, right: Mapping[str, Any]) -> bool:
    return canonical.encode(left) == canonical.encode(dict(right))


def _signature_holds(signed: Signed) -> bool:
    message = signatures.statement_bytes(signed.statement)
    return signatures.verify(signed.key, message, signed.signature)


def _knows_head(ledger: Ledger, head: Any, before: int) -> bool:
    if not isinstance(head, dict):
        return False
    head_fields = cast("dict[str, Any]", head)
    sequence = head_fields.get("sequence")
    if not isinstance(sequence, int) or not 0 < sequence < before:
        return False
    record = ledger.record(sequence)
    return record is not None and record.hash == head_fields.get("hash")


def _was_signed_before_restore(ledger: Ledger, head: int, before: int) -> bool:
    """Tell whether a statement may have been used up in a state that was gone back from.

    Any record of a restore counts, signed or not: all it can do here is to refuse.
    """
    restored = ledger.newest(RESTORED, before=before)
    return restored is not None and head < restored.sequence


def _build_rejection(why: str) -> SignatureRejected:
    return SignatureRejected(
        f"signature not valid: {why}",
        next_step="ask the operator to run the command again in a terminal",
    )
