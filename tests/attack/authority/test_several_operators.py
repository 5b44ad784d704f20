"""What an agent, a stranger, or one operator alone could try where several operators count."""

from typing import Any

import pytest

from astra.interfaces.daemon.operator_routes import describe_operators
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    DuplicateKey,
    SignatureRejected,
    SignaturesMissing,
)
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import (
    access,
    assertions,
    authority,
    cosigning,
    enlisting,
    enrolment,
    operators,
    passkeys,
)
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.operators import OperatorsRefused
from authenticator import Authenticator
from council import FULL_ROLE, REVIEWER, People, make_role

ORIGIN = "http://localhost:8700"
FLAG = ("flag_set", {"flag": "ASTRA_CODE_WRITE_ENABLED", "on": True})
CONFIG = ("config_signed", {"text": "", "sha256": "0"})


@pytest.fixture
def people() -> People:
    return People()


def append_forged(people: People, action: str, data: dict[str, Any], actor: str) -> None:
    """Put a record into the chain past every check, as damage or a bug would."""
    people.ledger.append(
        [Event(type=action, actor=actor, data=data, subject=operators.SUBJECT, signed=True)]
    )


# Becoming an operator


@pytest.mark.parametrize("actor", ["operator", "operator:owner", "agent:x"])
def test_a_record_of_an_enrolment_without_a_signature_enrols_nobody(
    people: People, actor: str
) -> None:
    content = {**people.request("mallory"), "role": FULL_ROLE}
    append_forged(people, operators.ENROLLED, content, actor)
    assert people.names == ["owner"]


def test_who_signs_their_own_enrolment_is_not_enrolled(people: People) -> None:
    content = {**people.request("mallory"), "role": FULL_ROLE}
    with pytest.raises(SignatureRejected):
        people.change("mallory", operators.ENROLLED, content)
    signed = people.sign("mallory", operators.ENROLLED, content).as_dict()
    append_forged(people, operators.ENROLLED, {**content, "authority": signed}, "operator")
    assert people.names == ["owner"]


def test_a_statement_for_one_enrolment_serves_no_other(people: People) -> None:
    content = {**people.request("anna"), "role": REVIEWER}
    signed = people.sign("owner", operators.ENROLLED, content)
    for wanted in (
        {**content, "role": FULL_ROLE},
        {**people.request("mallory"), "role": REVIEWER},
    ):
        with pytest.raises(SignatureRejected):
            enlisting.record_change(
                people.ledger, operators.ENROLLED, wanted, signed, now=people.root.clock.now()
            )
    assert people.names == ["owner"]


def test_an_enrolment_is_not_replayed_after_the_removal(people: People) -> None:
    content = {**people.request("anna"), "role": FULL_ROLE}
    signed, now = people.sign("owner", operators.ENROLLED, content), people.root.clock.now()
    record = enlisting.record_change(people.ledger, operators.ENROLLED, content, signed, now=now)
    people.remove("anna")
    with pytest.raises(OperatorsRefused):
        enlisting.record_change(people.ledger, operators.ENROLLED, content, signed, now=now)
    with pytest.raises(DuplicateKey):
        people.ledger.append(
            [Event(type=record.type, actor=record.actor, data=record.data, key=record.key)]
        )
    append_forged(people, operators.ENROLLED, dict(record.data), record.actor)
    assert people.names == ["owner"]


def test_one_key_is_not_enrolled_under_two_names(people: People) -> None:
    """Otherwise one person would be two signatures."""
    people.enrol("anna")
    for key in (people.keys["anna"], people.root.operator, people.root.recovery):
        content = {**people.request("annas-twin", key), "role": FULL_ROLE}
        with pytest.raises(OperatorsRefused, match="a key is enrolled once"):
            people.change("owner", operators.ENROLLED, content)
        signed = people.sign("owner", operators.ENROLLED, content).as_dict()
        append_forged(people, operators.ENROLLED, {**content, "authority": signed}, "operator")
    assert people.names == ["owner", "anna"]


def test_a_key_that_was_rotated_away_or_removed_is_nobody_elses(people: People) -> None:
    people.enrol("anna")
    old, new = people.keys["anna"], KeyPair.generate()
    rotation = {"new_key": new.public}
    signed = people.sign("anna", authority.KEY_ROTATED, rotation)
    now = people.root.clock.now()
    people.ledger.append(
        [authority.build_rotation_event(people.ledger, new.public, signed, now=now)]
    )
    people.remove("anna")
    for key in (old, new):
        content = {**people.request("bert", key), "role": FULL_ROLE}
        with pytest.raises(OperatorsRefused):
            people.change("owner", operators.ENROLLED, content)


def test_nobody_rotates_to_the_key_of_another(people: People) -> None:
    people.enrol("anna")
    taken = people.keys["owner"].public
    signed = people.sign("anna", authority.KEY_ROTATED, {"new_key": taken})
    with pytest.raises(AstraError):
        authority.build_rotation_event(people.ledger, taken, signed, now=people.root.clock.now())
    data = {"new_key": taken, "authority": signed.as_dict()}
    people.ledger.append([Event(type=authority.KEY_ROTATED, actor="operator", data=data)])
    assert people.council.find_by_key(taken) == people.council.find_by_name("owner")


def test_a_name_is_given_once(people: People) -> None:
    people.enrol("anna")
    people.remove("anna")
    people.keys["anna"] = KeyPair.generate()
    with pytest.raises(OperatorsRefused, match="a name is given once"):
        people.enrol("anna")


@pytest.mark.parametrize(
    "name", ["operator", "agent", "Owner", "ow ner", "", "\u043ewner", "a" * 33]
)
def test_a_name_that_could_be_taken_for_another_is_refused(people: People, name: str) -> None:
    with pytest.raises(BadInput):
        enlisting.build_request(people.root.root_id, name, KeyPair.generate())


@pytest.mark.parametrize("member", ["name", "key", "signature", "data_root"])
def test_a_request_that_was_changed_on_its_way_is_refused(people: People, member: str) -> None:
    document = enlisting.build_request(people.root.root_id, "anna", KeyPair.generate())
    other = enlisting.build_request("root_0000000000000002", "mallory", KeyPair.generate())
    with pytest.raises(BadInput):
        enlisting.read_request({**document, member: other[member]}, root_id=people.root.root_id)


# Having more than one's role


def test_nobody_gives_a_role_that_they_lack(people: People) -> None:
    people.enrol("anna", make_role("operators", "approve", tier=1))
    for role in (FULL_ROLE, make_role("flags"), make_role("approve", tier=2)):
        with pytest.raises(SignatureRejected, match="does not include"):
            people.enrol("mallory", role, by="anna")
        people.keys.pop("mallory")
        content = {"name": "anna", "role": role}
        with pytest.raises(SignatureRejected, match="does not include"):
            people.change("anna", operators.ROLE_SET, content)
    people.enrol("bert", make_role("approve", tier=1), by="anna")


def test_nobody_removes_or_narrows_who_may_more(people: People) -> None:
    people.enrol("anna", make_role("operators"))
    people.enrol("carl")
    with pytest.raises(SignatureRejected, match="does not include"):
        people.remove("carl", by="anna")
    with pytest.raises(SignatureRejected, match="does not include"):
        people.change("anna", operators.ROLE_SET, {"name": "carl", "role": make_role("operators")})


def test_rules_take_the_whole_role(people: People) -> None:
    people.enrol("anna", make_role("operators", "configuration", "approve"))
    with pytest.raises(SignatureRejected):
        people.set_rules(by="anna", separate=False)


def test_a_record_that_names_another_operator_does_not_hold(people: People) -> None:
    people.enrol("anna")
    signed = people.sign("anna", *FLAG).as_dict()
    data = {**FLAG[1], "authority": signed}
    for actor, holds in (("operator:owner", False), ("agent:x", False), ("operator:anna", True)):
        (record,) = people.ledger.append(
            [Event(type="flag_set", actor=actor, data=data, signed=True)]
        )
        assert people.holds(record) is holds


# Being several alone


def test_one_operator_is_one_signature_however_often_they_sign(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    for _ in range(3):
        with pytest.raises(SignaturesMissing, match="1 of 2: signed by anna"):
            people.record("anna", *CONFIG)
    new = KeyPair.generate()
    signed = people.sign("anna", authority.KEY_ROTATED, {"new_key": new.public})
    now = people.root.clock.now()
    people.ledger.append(
        [authority.build_rotation_event(people.ledger, new.public, signed, now=now)]
    )
    people.keys["anna"] = new
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by anna"):
        people.record("anna", *CONFIG)


def test_a_key_and_a_passkey_of_one_operator_are_one_signature(people: People) -> None:
    people.enrol("anna")
    people.set_rules(protected=2)
    device = enrol_passkey(people, "anna")
    request = people.ask(protected=["src/core.py"])
    content = {"approval": request, "digest": people.desk.get(request).digest}
    with pytest.raises(SignaturesMissing):
        people.approve(request, by="anna")
    said = Signed.read(device.sign(people.root.statement("approval_granted", content)))
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by anna"):
        people.desk.grant(request, said)
    people.approve(request, by="owner")
    assert people.desk.stands(request)


def test_a_decision_with_too_few_signatures_does_not_hold_in_the_chain(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    data = {**CONFIG[1], "authority": people.sign("anna", *CONFIG).as_dict()}
    (record,) = people.ledger.append(
        [Event(type="config_signed", actor="operator:anna", data=data, signed=True)]
    )
    assert not people.holds(record)


def test_a_forged_signature_given_does_not_count(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    stranger = people.root.sign(*CONFIG, KeyPair.generate())
    other = people.sign("owner", "config_signed", {"text": "x", "sha256": "0"})
    swapped = Signed(statement=stranger.statement, signature=other.signature, key=other.key)
    for forged in (stranger, other, swapped):
        given = cosigning.build_given_event(*CONFIG, forged.as_dict(), actor="operator:owner")
        people.ledger.append(
            [Event(type=given.type, actor=given.actor, data=given.data, signed=True)]
        )
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by anna"):
        people.record("anna", *CONFIG)


def test_a_removed_operators_signature_counts_no_more(people: People) -> None:
    people.enrol("anna")
    people.enrol("bert")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("anna", *CONFIG)
    people.remove("anna")
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by bert"):
        people.record("bert", *CONFIG)
    people.record("owner", *CONFIG)


def test_a_signature_of_who_lost_the_duty_counts_no_more(people: People) -> None:
    people.enrol("anna")
    people.enrol("bert")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("anna", *CONFIG)
    people.change("owner", operators.ROLE_SET, {"name": "anna", "role": REVIEWER})
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by bert"):
        people.record("bert", *CONFIG)


def test_a_round_is_used_up_by_its_decision(people: People) -> None:
    """What two signed once is not done again by one of them."""
    people.enrol("anna")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("anna", *CONFIG)
    decided = people.record("owner", *CONFIG)
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by owner"):
        people.record("owner", *CONFIG)
    data = {**CONFIG[1], "authority": {**people.sign("owner", *CONFIG).as_dict()}}
    (forged,) = people.ledger.append(
        [Event(type="config_signed", actor="operator:owner", data=data, signed=True)]
    )
    assert people.holds(decided)
    assert not people.holds(forged)


def test_two_who_complete_a_round_at_once_use_it_once(people: People) -> None:
    people.enrol("anna")
    people.enrol("bert")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("owner", *CONFIG)
    now, event = people.root.clock.now(), Event(type=CONFIG[0], actor="operator", data=CONFIG[1])
    completed = [
        authority.signed_event(people.ledger, event, people.sign(name, *CONFIG), now=now)
        for name in ("anna", "bert")
    ]
    records = [people.ledger.append([event])[0] for event in completed]
    assert [people.holds(record) for record in records] == [True, False]


def test_nobody_signs_for_their_own_removal_also_not_as_the_second(people: People) -> None:
    for name in ("anna", "bert"):
        people.enrol(name)
    people.set_rules(operators=2)
    with pytest.raises(SignatureRejected, match="removed by the others"):
        people.remove("anna", by="anna")
    with pytest.raises(SignaturesMissing):
        people.remove("anna", by="bert")
    with pytest.raises(SignatureRejected):
        people.remove("anna", by="anna")
    people.remove("anna", by="owner")
    assert people.names == ["owner", "bert"]


# Passkeys


def enrol_passkey(people: People, name: str) -> Authenticator:
    device, challenge = Authenticator(ORIGIN), b"c" * 32
    made = device.create(assertions.encode_base64url(challenge))
    credential = assertions.read_registration(
        assertions.decode_base64url(made["client_data"]),
        assertions.decode_base64url(made["attestation"]),
        challenge,
        site="localhost",
        origin=ORIGIN,
    )
    content = enrolment.content(credential, name=f"phone of {name}")
    signed = people.sign(name, passkeys.ENROLLED, content)
    enrolment.enroll(people.ledger, content, signed, now=people.root.clock.now())
    return device


def sign_flag(people: People, device: Authenticator) -> None:
    signed = Signed.read(device.sign(people.root.statement(*FLAG)))
    event = Event(type=FLAG[0], actor="operator", data=FLAG[1])
    now = people.root.clock.now()
    people.ledger.append([authority.signed_event(people.ledger, event, signed, now=now)])


def test_a_passkey_has_the_role_of_its_operator(people: People) -> None:
    people.enrol("anna", make_role("approve"))
    with pytest.raises(SignatureRejected, match="does not cover flags"):
        sign_flag(people, enrol_passkey(people, "anna"))
    sign_flag(people, enrol_passkey(people, "owner"))
    listed = describe_operators(people.ledger, now=people.root.clock.now())["items"]
    assert [item["passkeys"] for item in listed] == [["phone of owner"], ["phone of anna"]]


def test_a_removed_operators_passkey_neither_decides_nor_lets_in(people: People) -> None:
    people.enrol("anna")
    device = enrol_passkey(people, "anna")
    sign_flag(people, device)
    used = {"passkey": device.id, "counter": 0}
    now, ledger = people.root.clock.now(), people.ledger
    session = access.open_session(ledger, "secret", by="passkey", now=now, passkey=used)
    people.remove("anna")
    with pytest.raises(SignatureRejected, match="not an operator any more"):
        sign_flag(people, device)
    assert not access.is_open(ledger, session.id, now=now)
    assert access.find_principal(ledger, "secret", now=now) is None
    statement = people.root.statement(*FLAG)
    assertion = Signed.read(device.sign(statement)).assertion
    assert assertion is not None
    objection = authority.passkey_objection(
        ledger,
        device.id,
        assertion,
        authority.challenge(statement),
        before=ledger.head().sequence + 1,
    )
    assert objection == "it is a passkey of anna, who is not an operator any more"


def test_a_passkey_signs_nothing_about_operators(people: People) -> None:
    people.enrol("anna")
    device = enrol_passkey(people, "owner")
    content = {"name": "anna"}
    signed = Signed.read(device.sign(people.root.statement(operators.REMOVED, content)))
    with pytest.raises(SignatureRejected, match="takes the operator's key"):
        enlisting.record_change(
            people.ledger, operators.REMOVED, content, signed, now=people.root.clock.now()
        )


def test_a_signature_from_before_a_restore_or_an_accepted_clock_counts_no_more(
    people: People,
) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("owner", *CONFIG)
    people.ledger.append([Event(type=authority.RESTORED, actor="operator", data={})])
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by anna"):
        people.record("anna", *CONFIG)
