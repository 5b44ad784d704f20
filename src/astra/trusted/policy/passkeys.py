"""Which passkeys speak for the operator, and at which place in the chain.

A passkey speaks from the record that enrolled it, which the operator's key signed, to the record
that revoked it. What it decided in between stays decided. Its counter may only grow: one that does
not is a copy's.
"""

from collections.abc import Callable, Mapping
from typing import Any

from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.ledger.verbs import END
from astra.trusted.policy import assertions
from astra.trusted.policy.assertions import Assertion, Credential

ENROLLED, REVOKED = "passkey_enrolled", "passkey_revoked"


def find_objection(
    ledger: Ledger,
    identifier: str,
    assertion: Assertion,
    challenge: bytes,
    *,
    before: int,
    holds: Callable[[Record], bool],
) -> str:
    """Say why an assertion does not count before a record, or nothing when it does."""
    credential = find(ledger, identifier, before=before, holds=holds)
    if credential is None:
        return "there is no such passkey, or it was revoked"
    previous_counter = last_counter(ledger, identifier, before=before)
    if max(previous_counter, assertion.counter) > 0 and assertion.counter <= previous_counter:
        return "the passkey's counter did not grow; it may have been copied"
    return assertions.find_objection(credential, assertion, challenge)


def find(
    ledger: Ledger, identifier: str, *, before: int, holds: Callable[[Record], bool]
) -> Credential | None:
    """Give a passkey that speaks at a place in the chain: enrolled by a key, not revoked."""
    enrolment = find_enrolment(ledger, identifier, before=before, holds=holds)
    return credential(enrolment.data) if enrolment else None


def find_enrolment(
    ledger: Ledger, identifier: str, *, before: int, holds: Callable[[Record], bool]
) -> Record | None:
    """Give the record that enrolled a passkey which speaks at a place in the chain."""
    enrolment: Record | None = None
    for record in ledger.records(ENROLLED, REVOKED, before=before, limit=END):
        if record.data.get("passkey") != identifier:
            continue
        if record.type == REVOKED:
            return None
        if enrolment is None and holds(record):
            enrolment = record
    return enrolment


def last_counter(ledger: Ledger, identifier: str, *, before: int) -> int:
    """Give the counter of a passkey's last use (its enrolment is one) that the chain knows of."""
    for (line,) in ledger.query(_USE, [identifier, before, identifier, identifier, REVOKED]):
        data = chain.parse(line).data
        authority_data = data.get("authority", {})
        return (
            Assertion.read(authority_data).counter
            if authority_data.get("key") == identifier
            else int(data.get("counter", 0))
        )
    return 0


def credential(data: Mapping[str, Any]) -> Credential:
    """Read a passkey from the record of its enrolment."""
    return Credential(
        id=assertions.decode_base64url(data["credential"]),
        public_key=assertions.decode_base64url(data["public_key"]),
        site=str(data["site"]),
        origin=str(data["origin"]),
        counter=int(data["counter"]),
    )


_USE = (
    "SELECT line FROM mention JOIN record USING (sequence) WHERE id = ? AND sequence < ?"
    " AND (json_extract(line, '$.data.authority.key') = ?"
    " OR json_extract(line, '$.data.passkey') = ?) AND type != ?"
    " ORDER BY sequence DESC LIMIT 1"
)
