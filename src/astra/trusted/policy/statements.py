"""A statement: what a person decided, as it is drafted, signed, sent and recorded.

It names the action, its content, the data root and a record of its ledger, a nonce and an expiry.
Where the operator accepted the clock, time went back. A statement that was signed before that and
arrives after it would live longer than its signer meant, and is refused. A data root that was put
back to an older state does not know which statements were used since. What was signed before the
record of that restore is not accepted after it.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from astra.trusted.kernel import canonical, signatures
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import SignatureRejected
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Head
from astra.trusted.ledger.timekeeping import current_time, last_acceptance
from astra.trusted.policy.assertions import Assertion
from astra.trusted.policy.cosigning import RESTORED

LIFETIME = timedelta(minutes=10)
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
            raise build_rejection("there is no signature") from None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement as it is judged: what was signed, for what, and where in the chain."""

    signed: Signed
    action: str
    content: Mapping[str, Any]
    time: str
    before: int


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


def check_statement(ledger: Ledger, claim: Claim, root_id: str) -> None:
    """Refuse a statement that says something else, is over, or was made for another state."""
    statement, before = claim.signed.statement, claim.before
    if statement.keys() != _MEMBERS:
        raise build_rejection("the statement has missing or unknown parts")
    if statement["data_root"] != root_id:
        raise build_rejection("it was signed for another data root")
    is_same = _is_same_content(statement["content"], claim.content)
    if statement["action"] != claim.action or not is_same:
        raise build_rejection("it was signed for something else")
    if str(statement["expires_at"]) < claim.time:
        raise build_rejection("it has expired")
    if not _knows_head(ledger, statement["head"], before):
        raise build_rejection("it was signed for another state of the ledger")
    if statement["head"]["sequence"] < last_acceptance(ledger, before=before):
        raise build_rejection("it was signed before the clock was accepted")
    if _was_signed_before_restore(ledger, statement["head"]["sequence"], before):
        raise build_rejection("it was signed before this data root was restored")


def challenge(statement: dict[str, Any]) -> bytes:
    """Give what a passkey is asked to sign for a statement."""
    return hashlib.sha256(signatures.statement_bytes(statement)).digest()


def _is_same_content(left: Any, right: Mapping[str, Any]) -> bool:
    return canonical.encode(left) == canonical.encode(dict(right))


def signature_holds(signed: Signed) -> bool:
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


def build_rejection(why: str) -> SignatureRejected:
    return SignatureRejected(
        f"signature not valid: {why}",
        next_step="ask the operator to run the command again in a terminal",
    )
