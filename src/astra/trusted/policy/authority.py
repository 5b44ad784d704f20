"""Who may loosen: the operator, by a signature over exactly what was decided.

A statement names the action, its content, the data root and a record of its ledger, a nonce and an
expiry. It is accepted once (the nonce is a unique key of the ledger) and is checked again by
whoever relies on the record later: that a record is there, or says `operator`, proves nothing.

The first operator's public key stands in the first record of the ledger; the others are enrolled
by records that operators signed (`policy.operators`). A new key is introduced by a statement of the
old one; the owner's also by the recovery key that `astra init` printed once. Whose a signature is
and whether that operator may sign this is judged in one place, `judge`, by the operators, roles and
rules before the record that carries it.

A passkey that an operator's key has enrolled may sign too: its challenge is the hash of the
statement. It speaks from its enrolment to its revocation, and never about operators, keys,
passkeys, tokens, the configuration, the sandbox, the clock, an archive or a restore.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, Refused, SignatureRejected, StaleVersion
from astra.trusted.ledger.formats import ROOT_CREATED
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import ARCHIVED, Event, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, current_time
from astra.trusted.ledger.verbs import END
from astra.trusted.policy import cosigning, operators, passkeys, scopes
from astra.trusted.policy.askers import Trail
from astra.trusted.policy.assertions import Assertion
from astra.trusted.policy.operators import Council, Operator
from astra.trusted.policy.scopes import Scope
from astra.trusted.policy.statements import (
    LIFETIME,
    Claim,
    Signed,
    build_rejection,
    challenge,
    check_statement,
    draft,
    sign,
    signature_holds,
)

__all__ = ["LIFETIME", "Signed", "challenge", "draft", "sign"]

KEY_ROTATED = "operator_key_rotated"
RESTORED = cosigning.RESTORED
KEY_ONLY = frozenset(
    {
        KEY_ROTATED,
        RESTORED,
        passkeys.ENROLLED,
        "token_created",
        "config_signed",
        "sandbox_off_allowed",
        CLOCK_ACCEPTED,
        ARCHIVED,
        *operators.CHANGES,
    }
)
"""What a passkey cannot sign: it would make itself, or somebody else, more than it is."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whose signature it is, who else signed the same, and how many it takes."""

    signer: str
    names: tuple[str, ...]
    needed: int = 1
    round: str = ""
    """What several signatures are collected under; nothing where one is enough."""
    actor: str = "operator"

    @property
    def missing(self) -> int:
        return max(self.needed - len(self.names), 0)


CouncilAt = Callable[[int], Council]


def signed_event(
    ledger: Ledger, event: Event, signed: Signed, *, now: datetime, allow_recovery: bool = False
) -> Event:
    """Give the event that records a signed decision, once its signature is checked.

    The event's data is the content that must have been signed, word for word.
    """
    judgement = _collect_signatures(ledger, event, signed, now=now, allow_recovery=allow_recovery)
    round_name = {"round": judgement.round} if judgement.round else {}
    return Event(
        type=event.type,
        actor=judgement.actor,
        data={**event.data, "authority": {**signed.as_dict(), **round_name}},
        correlation=event.correlation,
        subject=event.subject,
        key=f"nonce:{signed.statement['nonce']}",
        signed=True,
    )


def _collect_signatures(
    ledger: Ledger, event: Event, signed: Signed, *, now: datetime, allow_recovery: bool
) -> Judgement:
    """Judge a signature; keep it where others are missing, and look again if one came meanwhile."""
    round_name = cosigning.name_round(event.type, event.data)
    while True:
        version = ledger.version(round_name)
        judgement = judge(
            ledger,
            signed,
            action=event.type,
            content=event.data,
            time=format_time(current_time(now, ledger.head())),
            before=ledger.head().sequence + 1,
            allow_recovery=allow_recovery,
        )
        if not judgement.missing:
            return judgement
        with suppress(StaleVersion):
            _keep_signature(ledger, event, signed, judgement, version)


def _keep_signature(
    ledger: Ledger, event: Event, signed: Signed, judgement: Judgement, version: int
) -> NoReturn:
    """Record a signature that is not enough by itself, and say how many are missing."""
    given_event = cosigning.build_given_event(
        event.type, event.data, signed.as_dict(), actor=judgement.actor
    )
    ledger.append([given_event], expect={judgement.round: version})
    raise cosigning.build_missing_error(
        judgement.names, judgement.needed, round_name=judgement.round
    )


def build_rotation_event(ledger: Ledger, new_key: str, signed: Signed, *, now: datetime) -> Event:
    """Introduce an operator's new key, by the word of the old one or of the recovery key."""
    council = find_keys(ledger)
    if not operators.is_public_key(new_key):
        raise build_rejection("the new key is not a public key")
    event = Event(type=KEY_ROTATED, actor="operator", data={"new_key": new_key})
    rotation = signed_event(ledger, event, signed, now=now, allow_recovery=True)
    operators.replace_key(council, _find_key_owner(council, signed.key), new_key)
    return rotation


_SIGNED: WeakKeyDictionary[Ledger, dict[tuple[Any, ...], None]] = WeakKeyDictionary()
"""The records of each open ledger whose signatures were found to hold."""
MOST_REMEMBERED = 1_024


def is_signed_by_operator(ledger: Ledger, record: Record) -> bool:
    """Tell whether a record carries its operators' signatures over its own content.

    Only the record and what the chain held before it have a say, and the record's hash binds both:
    signatures that held hold for as long as the record is the same in every member.
    """
    checked_records = _SIGNED.setdefault(ledger, {})
    if tuple(record) in checked_records:
        return True
    holds = bool(find_signers(ledger, record))
    if holds:
        if len(checked_records) >= MOST_REMEMBERED:
            checked_records.clear()
        checked_records[tuple(record)] = None
    return holds


def find_signers(ledger: Ledger, record: Record) -> tuple[str, ...]:
    """Name the operators whose valid signatures a record carries; nobody where they lack."""
    try:
        return _judge_record(ledger, record, lambda place: find_keys(ledger, before=place)).names
    except SignatureRejected:
        return ()


def _judge_record(ledger: Ledger, record: Record, council_at: CouncilAt) -> Judgement:
    judgement = judge(
        ledger,
        Signed.read(record.raw_data.get("authority")),
        action=record.type,
        content={name: value for name, value in record.raw_data.items() if name != "authority"},
        time=record.time,
        before=record.sequence,
        allow_recovery=record.type == KEY_ROTATED,
        council_at=council_at,
    )
    if judgement.missing:
        raise build_rejection(cosigning.describe_signatures(judgement.names, judgement.needed))
    if record.actor not in {"operator", f"operator:{judgement.signer}"}:
        raise build_rejection("the record names another operator than the one who signed it")
    return judgement


def find_keys(ledger: Ledger, *, before: int | None = None) -> Council:
    """Read who may sign now, or who might before a record."""
    return _find_council(_all_councils(ledger), END if before is None else before)


def _find_council(history: Sequence[tuple[int, Council]], place: int) -> Council:
    return next(council for sequence, council in reversed(history) if sequence < max(place, 2))


_KNOWN: WeakKeyDictionary[Ledger, tuple[tuple[str, int], tuple[tuple[int, Council], ...]]] = (
    WeakKeyDictionary()
)
"""What was read of each open ledger, beside what tells that nothing could have changed it."""


def _all_councils(ledger: Ledger) -> tuple[tuple[int, Council], ...]:
    """Give the council since the beginning, and since each change that was properly signed.

    Only the first record, rotations and records about operators have a say, and a chain never
    takes one back: as long as no more of them came, the answer is the same. Every signature is
    checked against it, so it is read anew only then.
    """
    newest = ledger.newest(KEY_ROTATED)
    mark = newest.hash if newest else "", ledger.version(operators.SUBJECT)
    cached_history = _KNOWN.get(ledger)
    if cached_history is None or cached_history[0] != mark:
        cached_history = mark, _read_councils(ledger)
        _KNOWN[ledger] = cached_history
    return cached_history[1]


def _read_councils(ledger: Ledger) -> tuple[tuple[int, Council], ...]:
    """Follow each rotation and each change of operators that is properly signed."""
    created = ledger.record(1)
    if created is None or created.type != ROOT_CREATED:
        raise build_rejection("this ledger does not start with the creation of a data root")
    history = [(created.sequence, operators.found_council(created.data, since=created.time))]
    for record in ledger.records(KEY_ROTATED, *operators.CHANGES, limit=END):
        with suppress(BadInput, Refused):  # it was not signed properly, or makes no sense
            history.append((record.sequence, _follow_record(ledger, record, history)))
    return tuple(history)


def _follow_record(
    ledger: Ledger, record: Record, history: Sequence[tuple[int, Council]]
) -> Council:
    judgement = _judge_record(ledger, record, lambda place: _find_council(history, place))
    council = history[-1][1]
    if record.type == KEY_ROTATED:
        return operators.replace_key(council, judgement.signer, str(record.data.get("new_key", "")))
    content = {name: value for name, value in record.raw_data.items() if name != "authority"}
    return operators.advance(council, record.type, content, time=record.time, names=judgement.names)


# Judging


def judge(
    ledger: Ledger,
    signed: Signed,
    *,
    action: str,
    content: Mapping[str, Any],
    time: str,
    before: int,
    allow_recovery: bool = False,
    council_at: CouncilAt | None = None,
) -> Judgement:
    """Say whose signature this is, or refuse it where that operator may not sign this here.

    It is judged at a place in the chain: by who was an operator, with which role and under which
    rules, before that place.
    """
    council_at = council_at or (lambda place: find_keys(ledger, before=place))
    council = council_at(before)
    claim = Claim(signed=signed, action=action, content=content, time=time, before=before)
    check_statement(ledger, claim, council.root_id)
    signer = _find_signer(ledger, claim, council, allow_recovery=allow_recovery)
    if not council.was_ever_several:
        return Judgement(signer=signer.name, names=(signer.name,))
    scope = _read_scope(ledger, claim, council)
    _require_may_sign(council, signer, scope)
    needed, cosigners = operators.count_needed(council, scope), ()
    if needed > 1:
        cosigners = _collect_others(ledger, claim, council, scope, council_at)
    return Judgement(
        signer=signer.name,
        names=tuple(dict.fromkeys((*cosigners, signer.name))),
        needed=needed,
        round=cosigning.name_round(action, content) if needed > 1 else "",
        actor=f"operator:{signer.name}",
    )


def _require_may_sign(council: Council, signer: Operator, scope: Scope) -> None:
    try:
        objection = operators.find_objection(council, signer, scope)
    except (BadInput, Refused) as error:
        objection = error.detail
    if objection:
        raise SignatureRejected(
            f"signature not valid: {objection}",
            code="role_too_small",
            next_step="ask an operator whose role covers it: astra operators",
            operator=signer.name,
        )


def _collect_others(
    ledger: Ledger, claim: Claim, council: Council, scope: Scope, council_at: CouncilAt
) -> tuple[str, ...]:
    """Name who else signed the same and may still sign it here."""

    def find_signer(record: Record) -> str:
        try:
            signature = Signed.read(record.raw_data.get("authority"))
            earlier = replace(claim, signed=signature, time=record.time, before=record.sequence)
            check_statement(ledger, earlier, council.root_id)
            signer = _find_signer(ledger, earlier, council_at(record.sequence))
            present = council.find_by_name(signer.name)
            if present is not None:
                _require_may_sign(council, present, scope)
        except SignatureRejected:
            return ""
        return signer.name if present else ""

    return cosigning.collect_names(
        ledger,
        claim.action,
        claim.content,
        time=claim.time,
        before=claim.before,
        find_signer=find_signer,
    )


def _read_scope(ledger: Ledger, claim: Claim, council: Council) -> Scope:
    scope = scopes.read_scope(ledger, claim.action, claim.content, before=claim.before)
    if scope.asked is None or not council.rules.separate_approver:
        return scope
    trail = Trail(
        ledger=ledger,
        find_signers=lambda record: find_signers(ledger, record),
        find_passkey_owner=lambda passkey, place: find_passkey_owner(ledger, passkey, before=place),
        council_at=lambda place: find_keys(ledger, before=place),
    )
    asker = trail.find_asker(scope.asked)
    return replace(scope, asked_by=asker.name, asks_unseen=asker.is_unseen)


def count_signatures(
    ledger: Ledger, action: str, content: Mapping[str, Any], *, time: str
) -> tuple[int, tuple[str, ...]]:
    """Say how many signatures a decision takes now, and who has given theirs already."""
    council, nobody = find_keys(ledger), Signed(statement={}, signature="", key="")
    if not council.was_ever_several:
        return 1, ()
    place = ledger.head().sequence + 1
    claim = Claim(signed=nobody, action=action, content=content, time=time, before=place)
    scope = _read_scope(ledger, claim, council)
    needed = operators.count_needed(council, scope)
    if needed == 1:
        return 1, ()
    names = _collect_others(
        ledger, claim, council, scope, lambda earlier: find_keys(ledger, before=earlier)
    )
    return needed, names


def _find_signer(
    ledger: Ledger, claim: Claim, council: Council, *, allow_recovery: bool = False
) -> Operator:
    """Give the operator who signed a statement, with a key or a passkey of theirs."""
    signature = claim.signed
    if signature.assertion:
        name = _check_passkey(ledger, signature, signature.assertion, claim.before)
    else:
        name = _find_key_owner(council, signature.key, allow_recovery=allow_recovery)
        if not name:
            raise build_rejection("it was not signed with the operator's key")
        if not signature_holds(signature):
            raise build_rejection("the signature does not fit the statement")
    signer = council.find_by_name(name)
    if signer is None:
        raise build_rejection(f"{name} is not an operator any more")
    return signer


def _find_key_owner(council: Council, key: str, *, allow_recovery: bool = True) -> str:
    """Name the operator whose key it is; the recovery key speaks for the owner."""
    if allow_recovery and key == council.recovery:
        return operators.OWNER
    operator = council.find_by_key(key)
    return operator.name if operator else ""


def passkey_objection(
    ledger: Ledger, identifier: str, assertion: Assertion, challenge: bytes, *, before: int
) -> str:
    """Say why a passkey's answer does not count at a place in the chain, or nothing if it does."""
    wrong = passkeys.find_objection(
        ledger,
        identifier,
        assertion,
        challenge,
        before=before,
        holds=lambda record: is_signed_by_operator(ledger, record),
    )
    owner = "" if wrong else find_passkey_owner(ledger, identifier, before=before)
    if owner and find_keys(ledger, before=before).find_by_name(owner) is None:
        return f"it is a passkey of {owner}, who is not an operator any more"
    return wrong


def find_passkey_owner(ledger: Ledger, identifier: str, *, before: int) -> str:
    """Name the operator whose key enrolled a passkey that speaks at a place in the chain."""
    enrolment = passkeys.find_enrolment(
        ledger,
        identifier,
        before=before,
        holds=lambda record: is_signed_by_operator(ledger, record),
    )
    return find_signers(ledger, enrolment)[-1] if enrolment else ""


def _check_passkey(ledger: Ledger, signed: Signed, assertion: Assertion, before: int) -> str:
    """Name the operator whose passkey answered for a statement, or refuse it."""
    if signed.statement["action"] in KEY_ONLY:
        raise build_rejection("a passkey cannot decide this; it takes the operator's key")
    wrong = passkey_objection(
        ledger, signed.key, assertion, challenge(signed.statement), before=before
    )
    if wrong:
        raise build_rejection(wrong)
    return find_passkey_owner(ledger, signed.key, before=before)
