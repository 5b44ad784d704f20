"""A clock that was wrong, and its acceptance: lifetimes are whole again, and nothing revives."""

from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from astra.testing import GateInMemory, RootInMemory
from astra.trusted.approvals.desk import LIFETIME
from astra.trusted.kernel.clock import MOST_AHEAD, format_time, parse_time
from astra.trusted.kernel.errors import Conflict, SignatureRejected
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED, last_acceptance
from astra.trusted.policy import access, authority, clock_acceptance
from astra.trusted.policy.authority import Signed

YEAR = timedelta(days=365)


def note(root: RootInMemory) -> None:
    root.ledger.append([Event(type="thing_happened", actor="daemon")])


def signed_acceptance(root: RootInMemory) -> Signed:
    state = clock_acceptance.read_state(root.ledger, machine=root.clock.now())
    return root.sign(CLOCK_ACCEPTED, clock_acceptance.content(state))


def accept(root: RootInMemory) -> None:
    clock_acceptance.accept(root.ledger, signed_acceptance(root), machine=root.clock.now())


def ask(gate: GateInMemory, digest: str = "d" * 64) -> str:
    return gate.desk.ask(
        kind="tool_call",
        subject_id="send",
        digest=digest,
        summary="the agent asks to send",
        details={},
        actor="agent:test",
        correlation="cor_0000000000000001",
    )


def grant(gate: GateInMemory, identifier: str) -> None:
    """Record a grant by the operator's signature, as the desk does for a call that it holds."""
    data = {"approval": identifier, "digest": gate.desk.get(identifier).digest}
    event = Event(type="approval_granted", actor="operator", data=data, subject=identifier)
    signed = gate.root.sign("approval_granted", data)
    now = gate.root.clock.now()
    gate.root.ledger.append([authority.signed_event(gate.root.ledger, event, signed, now=now)])


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


def wrong_for_a_moment(root: RootInMemory, by: timedelta = YEAR) -> None:
    """Set the clock ahead, let something be recorded, and set it right again."""
    root.clock.set(root.clock.now() + by)
    note(root)
    root.clock.set(root.clock.now() - by)


def test_time_goes_on_from_the_clock_once_it_is_accepted(gate: GateInMemory) -> None:
    root = gate.root
    wrong_for_a_moment(root)
    assert root.time.now() == root.clock.now() + YEAR
    accept(root)
    assert root.time.now() == root.clock.now()
    root.clock.advance(minutes=1)
    note(root)
    assert root.ledger.head().time == format_time(root.clock.now())


def test_the_record_says_which_time_is_right_and_from_which_record_on_it_was_not() -> None:
    root = RootInMemory()
    note(root)
    wrong_for_a_moment(root)
    note(root)
    accept(root)
    record = root.ledger.newest(CLOCK_ACCEPTED)
    assert record is not None
    assert authority.is_signed_by_operator(root.ledger, record)
    assert (record.data["time"], record.data["first_ahead"]) == (format_time(root.clock.now()), 3)
    assert record.data["ledger_time"] == format_time(root.clock.now() + YEAR)


def test_a_second_acceptance_looks_only_behind_the_first() -> None:
    root = RootInMemory()
    for _ in range(2):
        wrong_for_a_moment(root)
        accept(root)
        root.clock.advance(minutes=1)
    first, second = root.ledger.records(CLOCK_ACCEPTED)
    assert (first.data["first_ahead"], second.data["first_ahead"]) == (2, 4)


def test_a_new_approval_has_its_whole_life_before_and_after_the_acceptance(
    gate: GateInMemory,
) -> None:
    wrong_for_a_moment(gate.root)
    identifier = ask(gate)
    assert [each.id for each in gate.desk.list_by_state()] == [identifier]
    accept(gate.root)
    later = ask(gate)
    assert later != identifier
    grant(gate, later)
    gate.root.clock.advance(hours=23, minutes=59)
    assert gate.desk.find_usable("d" * 64) == later
    gate.root.clock.advance(minutes=2)
    assert gate.desk.find_usable("d" * 64) is None


def test_no_approval_survives_the_acceptance(gate: GateInMemory) -> None:
    before = ask(gate, "a" * 64)
    grant(gate, before)
    gate.root.clock.set(gate.root.clock.now() + timedelta(hours=1))
    during = ask(gate, "b" * 64)
    grant(gate, during)
    waiting = ask(gate, "c" * 64)
    gate.root.clock.set(gate.root.clock.now() - timedelta(hours=1))
    assert gate.desk.find_usable("a" * 64) == before
    accept(gate.root)
    assert [gate.desk.find_usable(letter * 64) for letter in "ab"] == [None, None]
    assert gate.desk.list_by_state() == []
    with pytest.raises(Conflict):
        gate.desk.reject(waiting, "too late", actor="operator")
    gate.steps().run_due()
    states = {each: gate.desk.get(each).state for each in (before, during, waiting)}
    assert set(states.values()) == {"expired"}
    assert not gate.root.ledger.records("approval_announced")


def test_a_statement_signed_before_the_acceptance_is_void_after_it(gate: GateInMemory) -> None:
    root = gate.root
    wrong_for_a_moment(root)
    event = Event(type="flag_set", actor="operator", data={"flag": "X", "on": True})
    early = root.sign(event.type, dict(event.data))
    accept(root)
    with pytest.raises(SignatureRejected, match="before the clock was accepted"):
        authority.signed_event(root.ledger, event, early, now=root.clock.now())
    new = root.sign(event.type, dict(event.data))
    (record,) = root.ledger.append(
        [authority.signed_event(root.ledger, event, new, now=root.clock.now())]
    )
    assert authority.is_signed_by_operator(root.ledger, record)


def test_what_was_signed_and_recorded_before_still_holds() -> None:
    root = RootInMemory()
    event = Event(type="flag_set", actor="operator", data={"flag": "X", "on": True})
    signed = root.sign(event.type, dict(event.data))
    (record,) = root.ledger.append(
        [authority.signed_event(root.ledger, event, signed, now=root.clock.now())]
    )
    wrong_for_a_moment(root)
    accept(root)
    assert authority.is_signed_by_operator(root.ledger, record)


def test_sessions_and_tokens_end_with_the_acceptance() -> None:
    root = RootInMemory()
    wrong_for_a_moment(root)
    who = access.open_session(root.ledger, "s" * 43, by="link", now=root.clock.now())
    content = access.token_content(
        "t" * 43, name="ci", role="viewer", days=300, now=root.time.now()
    )
    signed = root.sign(access.TOKEN_CREATED, content)
    access.create_token(root.ledger, content, signed, now=root.clock.now())
    for secret in ("s" * 43, "t" * 43):
        assert access.find_principal(root.ledger, secret, now=root.clock.now())
    accept(root)
    for secret in ("s" * 43, "t" * 43):
        assert access.find_principal(root.ledger, secret, now=root.clock.now()) is None
    assert not access.is_still_recognised(root.ledger, who, now=root.clock.now())
    assert access.open_session(root.ledger, "n" * 43, by="link", now=root.clock.now())
    assert access.find_principal(root.ledger, "n" * 43, now=root.clock.now())


def test_there_is_nothing_to_accept_while_the_two_agree() -> None:
    root = RootInMemory()
    wrong_for_a_moment(root, MOST_AHEAD)
    with pytest.raises(Conflict, match="nothing to accept"):
        accept(root)


def test_an_acceptance_that_was_not_sent_cannot_be_used_at_another_time() -> None:
    root = RootInMemory()
    wrong_for_a_moment(root)
    signed = signed_acceptance(root)
    root.clock.advance(minutes=11)
    with pytest.raises(SignatureRejected, match="the clock says"):
        clock_acceptance.accept(root.ledger, signed, machine=root.clock.now())


def test_a_desire_recorded_while_the_clock_was_ahead_fades_from_the_acceptance_on(
    gate: GateInMemory,
) -> None:
    gate.root.clock.advance(days=365)
    desire = gate.desires.record(
        "see the sea", actor="agent:test", correlation="cor_0000000000000002"
    )
    gate.root.clock.advance(days=-365)
    accept(gate.root)
    assert gate.desires.get(desire.id).strength == pytest.approx(1.0)
    gate.root.clock.advance(days=14)
    assert gate.desires.get(desire.id).strength == pytest.approx(0.5)


class LifetimesUnderAnyClock(RuleBasedStateMachine):
    """Approvals under a clock that jumps: `born` is when, and under which acceptance."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = GateInMemory()
        self.number = 0
        self.born: dict[str, tuple[str, int]] = {}
        self.over: set[str] = set()

    @property
    def time(self) -> str:
        return self.gate.desk.now()

    @rule(hours=st.integers(0, 30), minutes=st.integers(1, 59))
    def time_passes(self, hours: int, minutes: int) -> None:
        self.gate.root.clock.advance(hours=hours, minutes=minutes)

    @rule(days=st.sampled_from([-400, -365, -30, -1, 1, 30, 365, 400]))
    def the_clock_jumps(self, days: int) -> None:
        self.gate.root.clock.advance(days=days)

    @rule()
    def something_is_recorded(self) -> None:
        note(self.gate.root)

    @rule()
    def an_approval_is_granted(self) -> None:
        self.number += 1
        digest = f"{self.number:064x}"
        identifier = ask(self.gate, digest)
        grant(self.gate, identifier)
        self.born[digest] = (self.time, last_acceptance(self.gate.root.ledger))
        assert self.gate.desk.find_usable(digest) == identifier, "it was born expired"

    @rule()
    def the_operator_accepts_the_clock(self) -> None:
        root = self.gate.root
        try:
            accept(root)
        except Conflict:
            assert parse_time(root.ledger.head().time) - root.clock.now() <= MOST_AHEAD
        else:
            assert self.time == format_time(root.clock.now())

    @rule()
    def due_steps_run(self) -> None:
        self.gate.steps().run_due()

    @invariant()
    def time_never_goes_back_but_by_acceptance(self) -> None:
        assert self.time >= self.gate.root.ledger.head().time

    @invariant()
    def an_approval_is_usable_in_its_own_time_only(self) -> None:
        accepted = last_acceptance(self.gate.root.ledger)
        for digest, (born, epoch) in self.born.items():
            if self.gate.desk.find_usable(digest):
                assert epoch == accepted, "an acceptance carried it over"
                age = parse_time(self.time) - parse_time(born)
                assert timedelta(0) <= age < LIFETIME, "it outlived its time"

    @invariant()
    def what_was_over_stays_over(self) -> None:
        for digest in list(self.born):
            if not self.gate.desk.find_usable(digest) and self._recorded_over(digest):
                del self.born[digest]
                self.over.add(digest)
        assert not any(self.gate.desk.find_usable(digest) for digest in self.over)

    def _recorded_over(self, digest: str) -> bool:
        """Tell whether the ledger itself, and not only a clock that jumped, saw its end."""
        born, epoch = self.born[digest]
        head = self.gate.root.ledger.head().time
        over_by_ledger = parse_time(head) - parse_time(born) >= LIFETIME
        return over_by_ledger or epoch != last_acceptance(self.gate.root.ledger)


TestLifetimesUnderAnyClock = LifetimesUnderAnyClock.TestCase
TestLifetimesUnderAnyClock.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None
)
