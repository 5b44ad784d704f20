"""A person's one-time word: requested, decided, expired, used, and checked each time."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from astra import flow
from astra.flow import Background
from astra.testing import GateInMemory
from astra.trusted.approvals.desk import Desk, build_used_event, content
from astra.trusted.kernel.errors import Conflict, NotFound, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.verbs import LedgerVerbs


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def ask(gate: GateInMemory, digest: str = "d" * 64, **fields: Any) -> str:
    return asked(gate.desk, digest, **fields)


def asked(desk: Desk, digest: str = "d" * 64, **fields: Any) -> str:
    return desk.ask(
        **{
            "kind": "test",
            "subject_id": "thing",
            "digest": digest,
            "summary": "run a thing",
            "details": {"n": 1},
            "actor": "agent:test",
            "correlation": "cor_0000000000000001",
            **fields,
        }
    )


def runner(gate: GateInMemory) -> Background:
    return gate.steps()


def test_a_request_waits_with_everything_a_reviewer_needs(gate: GateInMemory) -> None:
    (found,) = [gate.desk.details(identifier) for identifier in [ask(gate)]]
    assert found["state"] == "pending"
    assert found["details"] == {"n": 1}
    assert found["requested_by"] == "agent:test"


def test_an_approved_one_is_usable_for_its_digest_only(gate: GateInMemory) -> None:
    identifier = ask(gate)
    assert gate.desk.find_usable("d" * 64) is None
    gate.approve(identifier)
    assert gate.desk.find_usable("d" * 64) == identifier
    assert gate.desk.find_usable("e" * 64) is None


def test_a_rejection_is_free_and_final(gate: GateInMemory) -> None:
    identifier = ask(gate)
    gate.desk.reject(identifier, "not today", actor="user:1000")
    assert gate.desk.get(identifier).reason == "not today"
    with pytest.raises(Conflict):
        gate.approve(identifier)


def test_the_second_decision_is_refused(gate: GateInMemory) -> None:
    identifier = ask(gate)
    gate.approve(identifier)
    with pytest.raises(Conflict) as refused:
        gate.desk.reject(identifier, "too late", actor="user:1000")
    assert refused.value.facts["state"] == "approved"


def test_an_unknown_one_is_not_found(gate: GateInMemory) -> None:
    with pytest.raises(NotFound):
        gate.desk.reject("apr_00000000", "x", actor="user:1000")


def test_nobody_but_the_operator_approves(gate: GateInMemory) -> None:
    identifier = ask(gate)
    with pytest.raises(SignatureRejected):
        gate.approve(identifier, KeyPair.generate())
    assert gate.desk.get(identifier).state == "pending"


def test_a_signature_for_one_approval_does_not_approve_another(gate: GateInMemory) -> None:
    first, second = ask(gate), ask(gate, digest="e" * 64)
    signed = gate.root.sign("approval_granted", content(gate.desk.get(first)))
    with pytest.raises(SignatureRejected):
        gate.desk.grant(second, signed)


def test_a_grant_put_into_the_chain_by_hand_is_not_believed(gate: GateInMemory) -> None:
    identifier = ask(gate)
    forged = Event(
        type="approval_granted",
        actor="operator",
        data=content(gate.desk.get(identifier)),
        subject=identifier,
    )
    gate.root.ledger.append([forged])
    assert gate.desk.get(identifier).state == "approved"
    assert gate.desk.find_usable("d" * 64) is None


def test_an_expired_one_cannot_be_approved_or_used(gate: GateInMemory) -> None:
    waiting, approved = ask(gate), ask(gate, digest="e" * 64)
    gate.approve(approved)
    gate.root.clock.advance(hours=25)
    assert gate.desk.find_usable("e" * 64) is None
    assert gate.desk.list_by_state() == []
    with pytest.raises(Conflict):
        gate.approve(waiting)


def test_turning_the_clock_back_revives_nothing_that_expired(gate: GateInMemory) -> None:
    approved = ask(gate)
    gate.approve(approved)
    gate.root.clock.advance(hours=25)
    gate.root.ledger.append([Event(type="thing_happened", actor="daemon")])
    gate.root.clock.advance(hours=-25)
    assert gate.desk.find_usable("d" * 64) is None


def test_waiting_ones_are_announced_again_and_then_expire_each_once(gate: GateInMemory) -> None:
    identifier = ask(gate)
    steps = runner(gate)
    assert steps.run_due() == 0
    gate.root.clock.advance(hours=7)
    assert steps.run_due() == 2
    assert steps.run_due() == 0
    gate.root.clock.advance(hours=18)
    steps.run_due()
    types = [record.type for record in views.story(gate.root.ledger, identifier)]
    assert types.count("approval_announced") == 3
    assert types[-1] == "approval_expired"
    assert flow.next_due(gate.root.ledger) is None


def test_a_decision_ends_the_reminders(gate: GateInMemory) -> None:
    gate.approve(ask(gate))
    gate.root.clock.advance(hours=7)
    assert runner(gate).run_due() == 0


def test_what_went_stale_cannot_be_used_and_says_what_moved(gate: GateInMemory) -> None:
    identifier = ask(gate)
    gate.approve(identifier)
    gate.desk.go_stale(identifier, "the branch moved")
    assert gate.desk.find_usable("d" * 64) is None
    assert gate.desk.get(identifier).reason == "the branch moved"


class Overtaken(LedgerVerbs):
    """A ledger on which somebody else acts between a look at it and the append."""

    def __init__(
        self, gate: GateInMemory, first: Callable[[], object], *, look: str = "version"
    ) -> None:
        self._look = look
        self._ledger = gate.root.ledger
        self._first: list[Callable[[], object]] = [first]
        self.head, self.append = self._ledger.head, self._ledger.append
        self.wait, self.close = self._ledger.wait, self._ledger.close

    def position(self) -> int:
        return self._ledger.position()

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        rows = self._ledger.query(sql, parameters)
        if self._look in sql and self._first:
            self._first.pop()()
        return rows


def test_two_who_ask_for_the_same_at_once_get_one_request(gate: GateInMemory) -> None:
    slower = Overtaken(gate, lambda: ask(gate), look="state = 'pending'")
    mine = asked(Desk(slower, gate.root.clock))
    assert [approval.id for approval in gate.desk.list_by_state()] == [mine]


def test_whoever_decides_second_at_the_same_moment_hears_who_was_first(gate: GateInMemory) -> None:
    identifier = ask(gate)
    slower = Overtaken(gate, lambda: gate.desk.reject(identifier, "no", actor="session:one"))
    with pytest.raises(Conflict) as caught:
        Desk(slower, gate.root.clock).reject(identifier, "nor I", actor="session:two")
    assert caught.value.reason == "already_decided"
    assert caught.value.facts["by"] == "session:one"
    assert caught.value.facts["state"] == "rejected"


def test_a_yes_that_took_effect_meanwhile_is_not_withdrawn(gate: GateInMemory) -> None:
    identifier = ask(gate)
    gate.approve(identifier)

    def use() -> None:
        story = "cor_0000000000000001"
        gate.root.ledger.append([build_used_event(identifier, actor="daemon", correlation=story)])

    slower = Overtaken(gate, use)
    Desk(slower, gate.root.clock).withdraw_granted(identifier, "it does not stand")
    gate.desk.withdraw_granted(identifier, "it does not stand")
    assert gate.desk.get(identifier).state == "used"


def test_a_yes_that_cannot_take_effect_is_withdrawn(gate: GateInMemory) -> None:
    identifier = ask(gate)
    gate.desk.withdraw_granted(identifier, "nobody has decided yet")
    assert gate.desk.get(identifier).state == "pending"
    gate.approve(identifier)
    gate.desk.withdraw_granted(identifier, "the branch moved")
    assert (found := gate.desk.get(identifier)).state == "stale"
    assert found.reason == "the branch moved"


def test_going_stale_twice_at_the_same_moment_is_going_stale_once(gate: GateInMemory) -> None:
    identifier = ask(gate)
    slower = Overtaken(gate, lambda: gate.desk.go_stale(identifier, "it moved"))
    Desk(slower, gate.root.clock).go_stale(identifier, "it moved")
    assert gate.desk.get(identifier).state == "stale"
    assert len(views.records(gate.root.ledger, type_="approval_went_stale")) == 1
    other = ask(gate, "e" * 64)
    slower = Overtaken(gate, lambda: gate.desk.reject(other, "no", actor="session:one"))
    with pytest.raises(Conflict):
        Desk(slower, gate.root.clock).go_stale(other, "it moved")
