"""A passkey decides what it was asked to decide, from its enrolment to its revocation."""

from collections.abc import Callable
from typing import Any

import pytest

from astra.testing import GateInMemory, RootInMemory
from astra.trusted.approvals import desk
from astra.trusted.kernel.errors import BadInput, Conflict, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import assertions, authority, enrolment, flags, passkeys
from astra.trusted.policy.authority import Signed
from authenticator import PRESENT, VERIFIED, Authenticator

ORIGIN = "http://localhost:8700"
FLAG = "ASTRA_CODE_WRITE_ENABLED"


@pytest.fixture
def root() -> RootInMemory:
    return RootInMemory()


def made(device: Authenticator) -> assertions.Credential:
    challenge = b"c" * 32
    said = device.create(assertions.encode_base64url(challenge))
    return assertions.read_registration(
        assertions.decode_base64url(said["client_data"]),
        assertions.decode_base64url(said["attestation"]),
        challenge,
        site="localhost",
        origin=ORIGIN,
    )


def enrolled(root: RootInMemory, key: KeyPair | None = None, **given: Any) -> Authenticator:
    device = Authenticator(ORIGIN, **given)
    content = enrolment.content(made(device), name="my phone")
    signed = root.sign(passkeys.ENROLLED, content, key)
    enrolment.enroll(root.ledger, content, signed, now=root.clock.now())
    return device


def turn_on(root: RootInMemory, said: dict[str, Any]) -> None:
    signed = Signed.read(said)
    root.ledger.append([flags.turn_on(root.ledger, FLAG, signed, now=root.clock.now())])


def statement(root: RootInMemory) -> dict[str, Any]:
    return root.statement("flag_set", {"flag": FLAG, "on": True})


def is_on(root: RootInMemory) -> bool:
    return flags.read_flags(root.ledger)[FLAG].on


def test_an_enrolled_passkey_decides_and_its_assertion_is_kept(root: RootInMemory) -> None:
    device = enrolled(root)
    said = device.sign(statement(root))
    turn_on(root, said)
    assert is_on(root)
    assert f'"client_data":"{said["client_data"]}"' in root.ledger.lines[-1]


def test_a_revoked_passkey_decides_nothing_more_and_what_it_decided_stays(
    root: RootInMemory,
) -> None:
    device = enrolled(root)
    turn_on(root, device.sign(statement(root)))
    late = device.sign(statement(root))
    enrolment.revoke(root.ledger, device.id, actor="anyone")
    assert is_on(root)
    with pytest.raises(SignatureRejected):
        turn_on(root, late)


def test_a_passkey_counts_from_its_enrolment_on(root: RootInMemory) -> None:
    stranger = Authenticator(ORIGIN)
    with pytest.raises(SignatureRejected):
        turn_on(root, stranger.sign(statement(root)))


LIES: dict[str, Callable[[Authenticator, dict[str, Any]], dict[str, Any]]] = {
    "content changed": lambda device, said: device.sign(
        {**said, "content": {"flag": FLAG, "on": False}}
    ),
    "evil origin": lambda device, said: device.sign(said, origin="https://evil.example"),
    "other port": lambda device, said: device.sign(said, origin="http://localhost:8701"),
    "other name": lambda device, said: device.sign(said, origin="http://127.0.0.1:8700"),
    "cross origin": lambda device, said: device.sign(said, crossOrigin=True),
    "odd cross origin": lambda device, said: device.sign(said, crossOrigin="no"),
    "other kind": lambda device, said: device.sign(said, type="webauthn.create"),
    "no signature": lambda device, said: {**device.sign(said), "signature": "AA"},
    "unknown passkey": lambda device, said: {**device.sign(said), "key": "pky_0000000000000000"},
    "empty client data": lambda device, said: {**device.sign(said), "client_data": "e30"},
    "short data": lambda device, said: {**device.sign(said), "authenticator_data": "AA"},
    "not base64": lambda device, said: {**device.sign(said), "authenticator_data": "!"},
    "nonce changed": lambda device, said: {
        **device.sign(said),
        "statement": {**said, "nonce": "nonce_2"},
    },
    "other statement signed": lambda device, said: {
        **device.sign({**said, "nonce": "nonce_2"}),
        "statement": said,
    },
    "too long": lambda device, said: {**device.sign(said), "client_data": "A" * 5000},
}


@pytest.mark.parametrize("lie", LIES)
def test_an_answer_that_is_not_exactly_that_is_refused(root: RootInMemory, lie: str) -> None:
    device = enrolled(root)
    with pytest.raises(SignatureRejected):
        turn_on(root, LIES[lie](device, statement(root)))
    assert not is_on(root)


@pytest.mark.parametrize(
    "device",
    [
        {"flags": 0},
        {"flags": PRESENT},
        {"flags": VERIFIED},
        {"site": "evil.example"},
        {"site": ""},
    ],
    ids=str,
)
def test_presence_verification_and_the_site_are_needed(
    root: RootInMemory, device: dict[str, Any]
) -> None:
    holder = enrolled(root)
    for name, value in device.items():
        setattr(holder, name, value)
    with pytest.raises(SignatureRejected):
        turn_on(root, holder.sign(statement(root)))


def test_anothers_key_with_the_same_credential_is_refused(root: RootInMemory) -> None:
    holder = enrolled(root)
    clone = Authenticator(ORIGIN, credential=holder.credential)
    with pytest.raises(SignatureRejected):
        turn_on(root, clone.sign(statement(root)))


def test_a_counter_that_does_not_grow_is_a_copys(root: RootInMemory) -> None:
    device = enrolled(root, counter=5)
    for counter, counts in ((5, False), (4, False), (0, False), (6, True), (6, False), (9, True)):
        device.counter = counter
        said = device.sign(statement(root))
        if counts:
            turn_on(root, said)
        else:
            with pytest.raises(SignatureRejected):
                turn_on(root, said)
    assert is_on(root)


def test_an_answer_counts_once(root: RootInMemory) -> None:
    said = enrolled(root).sign(statement(root))
    turn_on(root, said)
    with pytest.raises(Conflict):
        turn_on(root, said)


def test_an_answer_for_one_approval_is_none_for_another(root: RootInMemory) -> None:
    gate = GateInMemory(root)
    device = enrolled(root)
    first, second = (
        gate.desk.ask(
            kind="test",
            subject_id="fetch_url",
            digest=digest * 64,
            summary="",
            details={},
            actor="agent:x",
            correlation="cor_00000000",
        )
        for digest in "ab"
    )
    said = root.statement(desk.GRANTED, desk.content(gate.desk.get(first)))
    signed = Signed.read(device.sign(said))
    with pytest.raises(SignatureRejected):
        gate.desk.grant(second, signed)
    gate.desk.grant(first, signed)
    assert gate.desk.stands(first)
    assert gate.desk.get(second).state == "pending"


def test_an_expired_statement_is_refused_whoever_signed_it(root: RootInMemory) -> None:
    said = enrolled(root).sign(statement(root))
    root.clock.advance(minutes=11)
    with pytest.raises(SignatureRejected):
        turn_on(root, said)


@pytest.mark.parametrize("action", sorted(authority.KEY_ONLY))
def test_a_passkey_makes_nobody_more_than_they_are(root: RootInMemory, action: str) -> None:
    device = enrolled(root)
    content = {"new_key": "00" * 32}
    signed = Signed.read(device.sign(root.statement(action, content)))
    event = Event(type=action, actor="operator", data=content)
    with pytest.raises(SignatureRejected):
        authority.signed_event(root.ledger, event, signed, now=root.clock.now())


def test_enrolling_takes_the_operators_key(root: RootInMemory) -> None:
    holder = enrolled(root)
    for key in (KeyPair.generate(), root.recovery):
        with pytest.raises(SignatureRejected):
            enrolled(root, key=key)
    content = enrolment.content(made(Authenticator(ORIGIN)), name="another")
    own = Signed.read(holder.sign(root.statement(passkeys.ENROLLED, content)))
    with pytest.raises(SignatureRejected):
        enrolment.enroll(root.ledger, content, own, now=root.clock.now())


def test_an_enrolment_put_into_the_chain_by_hand_speaks_for_nobody(root: RootInMemory) -> None:
    device = Authenticator(ORIGIN)
    content = enrolment.content(made(device), name="mine")
    forged = Event(
        type=passkeys.ENROLLED, actor="operator", data=content, subject=content["passkey"]
    )
    root.ledger.append([forged])
    with pytest.raises(SignatureRejected):
        turn_on(root, device.sign(statement(root)))
    assert not enrolment.list_passkeys(root.ledger)


def test_a_decision_put_into_the_chain_by_hand_is_checked_when_it_is_read(
    root: RootInMemory,
) -> None:
    device = enrolled(root)
    said = device.sign(root.statement("flag_set", {"flag": "AGENT_RUNNER_ENABLED", "on": True}))
    content = {"flag": FLAG, "on": True, "authority": said}
    root.ledger.append([Event(type="flag_set", actor="operator", data=content, subject="flags")])
    assert not is_on(root)


def test_what_is_enrolled_is_what_was_signed(root: RootInMemory) -> None:
    content = enrolment.content(made(Authenticator(ORIGIN)), name="mine")
    for wrong in (
        {**content, "passkey": "pky_0000000000000000"},
        {**content, "admin": True},
        {**content, "counter": "0"},
        {"passkey": content["passkey"]},
    ):
        with pytest.raises(BadInput):
            enrolment.enroll(
                root.ledger, wrong, root.sign(passkeys.ENROLLED, wrong), now=root.clock.now()
            )


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://evil.example"},
        {"type": "webauthn.get"},
        {"challenge": "AAAA"},
        {"crossOrigin": True},
    ],
    ids=str,
)
def test_a_passkey_made_for_something_else_is_not_enrolled(wrong: dict[str, Any]) -> None:
    challenge = b"c" * 32
    device = Authenticator(ORIGIN)
    said = device.create(assertions.encode_base64url(challenge))
    seen = device._client("webauthn.create", assertions.encode_base64url(challenge), **wrong)
    with pytest.raises(ValueError, match="passkey"):
        assertions.read_registration(
            seen,
            assertions.decode_base64url(said["attestation"]),
            challenge,
            site="localhost",
            origin=ORIGIN,
        )


@pytest.mark.parametrize("flags", [0, PRESENT, VERIFIED])
def test_a_passkey_made_without_a_person_is_not_enrolled(flags: int) -> None:
    with pytest.raises(ValueError, match="passkey"):
        made(Authenticator(ORIGIN, flags=flags))
