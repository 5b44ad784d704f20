"""Signatures of several operators under one decision, collected in the chain.

Each operator signs a statement of their own over the same action and the same content: a round.
Signatures are recorded as they come; whoever relies on the decision counts them again. A round is
used up by the decision that it led to, and a signature lapses after a day, when the clock was
accepted, when the data root was restored, and when something else was decided about the same.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import format_time, parse_time
from astra.trusted.kernel.errors import SignaturesMissing
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import last_acceptance

GIVEN = "signature_given"
RESTORED = "ledger_restored"
LIFETIME = timedelta(hours=24)
_MOST_SHOWN = 100
_SUPERSEDING: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "config_signed": ("config_signed",),
        "sandbox_off_allowed": ("sandbox_off_allowed", "sandbox_off_revoked"),
        **{
            action: (action,)
            for action in ("operator_rules_set", "operator_role_set", "operator_users_set")
        },
    }
)
"""After which records an older signature is about a state that nobody looks at any more."""


def name_round(action: str, content: Mapping[str, Any]) -> str:
    """Name what is signed: one differing byte is another round."""
    digest = hashlib.sha256(canonical.encode({"action": action, "content": dict(content)}))
    return f"sgn_{digest.hexdigest()[:40]}"


def build_given_event(
    action: str, content: Mapping[str, Any], authority: Mapping[str, Any], *, actor: str
) -> Event:
    """Give the event that keeps one signature until the others are there."""
    identifier = name_round(action, content)
    data = {"round": identifier, "action": action, "content": dict(content)}
    return Event(
        type=GIVEN,
        actor=actor,
        data={**data, "authority": dict(authority)},
        subject=identifier,
        key=f"nonce:{authority['statement']['nonce']}",
        signed=True,
    )


def collect_names(
    ledger: Ledger,
    action: str,
    content: Mapping[str, Any],
    *,
    time: str,
    before: int,
    find_signer: Callable[[Record], str],
) -> tuple[str, ...]:
    """Name who has signed a round before a place in the chain, each once, the first first.

    `find_signer` names the operator whose signature a record carries, if it counts.
    """
    records = list_given(ledger, action, content, time=time, before=before)
    names = (find_signer(record) for record in records)
    return tuple(dict.fromkeys(filter(None, names)))


def list_given(
    ledger: Ledger, action: str, content: Mapping[str, Any], *, time: str, before: int
) -> list[Record]:
    """Give the records of signatures of a round that are neither used up nor lapsed."""
    identifier = name_round(action, content)
    decisions = ledger.find_mentions(identifier, action, before=before, limit=1, newest_first=True)
    restored = ledger.newest(RESTORED, before=before)
    start = max(
        last_acceptance(ledger, before=before),
        restored.sequence if restored else 0,
        decisions[0].sequence if decisions else 0,
        _find_superseding(ledger, action, before),
    )
    oldest = format_time(parse_time(time) - LIFETIME)
    return [
        record
        for record in ledger.find_mentions(identifier, GIVEN, after=start, before=before)
        if record.time >= oldest and is_of_round(record, action, content)
    ]


def _find_superseding(ledger: Ledger, action: str, before: int) -> int:
    """Give the place of the newest decision about the same thing, whatever it decided."""
    types = _SUPERSEDING.get(action, ())
    newest = ledger.newest(*types, before=before) if types else None
    return newest.sequence if newest else 0


def is_of_round(record: Record, action: str, content: Mapping[str, Any]) -> bool:
    """Tell whether a signature was given for exactly this, word for word."""
    signed_for = {name: record.raw_data.get(name) for name in ("action", "content")}
    round_content = {"action": action, "content": dict(content)}
    return canonical.encode(signed_for) == canonical.encode(round_content)


def describe_signatures(names: Sequence[str], needed: int) -> str:
    """Say who signed and how many are missing.

    >>> describe_signatures(["anna"], 2)
    '1 of 2: signed by anna, waits for one more'
    """
    count = needed - len(names)
    if count <= 0:
        return f"{len(names)} of {needed}: signed by {', '.join(names)}; any of them runs it again"
    more = "one more" if count == 1 else f"{count} more"
    who = f"signed by {', '.join(names)}" if names else "signed by nobody yet"
    return f"{len(names)} of {needed}: {who}, waits for {more}"


def build_missing_error(names: Sequence[str], needed: int, *, round_name: str) -> SignaturesMissing:
    return SignaturesMissing(
        describe_signatures(names, needed),
        next_step="another operator runs the same command, or signs it on the page, within 24"
        " hours",
        signed_by=list(names),
        needed=needed,
        missing=needed - len(names),
        round=round_name,
    )


def list_recent(ledger: Ledger, *, time: str) -> list[Record]:
    """Give the newest signatures that did not lapse by age, for those who look."""
    oldest = format_time(parse_time(time) - LIFETIME)
    records = ledger.records(GIVEN, limit=_MOST_SHOWN, newest_first=True)
    return [record for record in records if record.time >= oldest]
