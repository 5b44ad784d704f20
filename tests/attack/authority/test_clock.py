"""Whoever sets the clock, or asks to accept it, gets nothing back that was over."""

import pytest

from astra.testing import CounterInMemory, GateInMemory, RootInMemory
from astra.tools.catalogue import make_registry
from astra.trusted.kernel.errors import AstraError, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.policy import access, authority, clock_acceptance
from astra.trusted.policy.authority import KEY_ONLY

DIGEST = "d" * 64


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def ask_and_grant(gate: GateInMemory) -> str:
    identifier = gate.desk.ask(
        kind="promotion",
        subject_id="des_00000001",
        digest=DIGEST,
        summary="a goal",
        details={},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )
    gate.approve(identifier)
    return identifier


def note(root: RootInMemory) -> None:
    root.ledger.append([Event(type="thing_happened", actor="daemon")])


def let_the_ledger_be_ahead(root: RootInMemory) -> None:
    root.clock.advance(days=365)
    note(root)
    root.clock.advance(days=-365)


def content(root: RootInMemory) -> dict[str, object]:
    state = clock_acceptance.read_state(root.ledger, machine=root.clock.now())
    return clock_acceptance.content(state)


def test_a_clock_set_back_revives_no_approval_statement_session_or_token(
    gate: GateInMemory,
) -> None:
    root = gate.root
    ask_and_grant(gate)
    statement = root.sign("flag_set", {"flag": "X", "on": True})
    access.open_session(root.ledger, "s" * 43, by="link", now=root.clock.now())
    token = access.token_content("t" * 43, name="ci", role="viewer", days=1, now=root.clock.now())
    signed = root.sign(access.TOKEN_CREATED, token)
    access.create_token(root.ledger, token, signed, now=root.clock.now())
    root.clock.advance(days=2)
    note(root)
    for days in (-1, -1, -300):
        root.clock.advance(days=days)
        event = Event(type="flag_set", actor="operator", data={"flag": "X", "on": True})
        with pytest.raises(SignatureRejected, match="expired"):
            authority.signed_event(root.ledger, event, statement, now=root.clock.now())
        assert gate.desk.find_usable(DIGEST) is None
        for secret in ("s" * 43, "t" * 43):
            assert access.find_principal(root.ledger, secret, now=root.clock.now()) is None


@pytest.mark.parametrize("key", ["agent", "recovery"])
def test_only_the_operators_key_accepts(key: str) -> None:
    root = RootInMemory()
    let_the_ledger_be_ahead(root)
    pair = KeyPair.generate() if key == "agent" else root.recovery
    signed = root.sign(CLOCK_ACCEPTED, dict(content(root)), pair)
    with pytest.raises(SignatureRejected):
        clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())
    assert root.ledger.newest(CLOCK_ACCEPTED) is None


def test_a_passkey_cannot_accept() -> None:
    assert CLOCK_ACCEPTED in KEY_ONLY


def test_an_agent_has_no_tool_that_accepts() -> None:
    counter = CounterInMemory()
    let_the_ledger_be_ahead(counter.gate.root)
    for name in ("clock_accept", "astra.clock.accept", CLOCK_ACCEPTED):
        with pytest.raises(AstraError):
            counter.call(name)
    assert not [tool.name for tool in make_registry().list_all() if "clock" in tool.name]


@pytest.mark.parametrize(
    "lie",
    [
        {"time": "2026-02-01T12:00:00.000000Z"},
        {"time": "2027-01-01T12:00:00.000000Z"},
        {"ledger_time": "2026-03-01T12:00:00.000000Z"},
        {"first_ahead": 1},
        {"first_ahead": True},
        {"more": 1},
        {"time": None},
    ],
)
def test_an_acceptance_of_what_is_not_so_is_refused(lie: dict[str, object]) -> None:
    root = RootInMemory()
    let_the_ledger_be_ahead(root)
    signed = root.sign(CLOCK_ACCEPTED, {**content(root), **lie})
    with pytest.raises(SignatureRejected):
        clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())


def test_an_acceptance_counts_once() -> None:
    root = RootInMemory()
    let_the_ledger_be_ahead(root)
    signed = root.sign(CLOCK_ACCEPTED, dict(content(root)))
    clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())
    let_the_ledger_be_ahead(root)
    with pytest.raises(SignatureRejected):
        clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())


def test_a_record_that_nobody_signed_sets_no_time_back_and_revives_nothing(
    gate: GateInMemory,
) -> None:
    ask_and_grant(gate)
    gate.root.clock.advance(days=2)
    note(gate.root)
    gate.root.clock.advance(days=-2)
    forged = Event(type=CLOCK_ACCEPTED, actor="operator", data=content(gate.root))
    before = gate.root.ledger.head().time
    gate.root.ledger.append([forged])
    assert gate.root.ledger.head().time == before
    assert gate.desk.find_usable(DIGEST) is None


def test_a_grant_that_was_signed_before_and_comes_after_the_acceptance_is_worth_nothing(
    gate: GateInMemory,
) -> None:
    """Two who decide at once: the signature was checked, then the clock was accepted."""
    root = gate.root
    let_the_ledger_be_ahead(root)
    identifier = gate.desk.ask(
        kind="promotion",
        subject_id="des_00000001",
        digest=DIGEST,
        summary="a goal",
        details={},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )
    said = {"approval": identifier, "digest": DIGEST}
    event = Event(type="approval_granted", actor="operator", data=said, subject=identifier)
    granted = authority.signed_event(
        root.ledger, event, root.sign("approval_granted", said), now=root.clock.now()
    )
    signed = root.sign(CLOCK_ACCEPTED, dict(content(root)))
    clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())
    (record,) = root.ledger.append([granted])
    assert not authority.is_signed_by_operator(root.ledger, record)
    assert gate.desk.find_usable(DIGEST) is None
