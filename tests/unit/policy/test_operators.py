"""Several operators: who they are, what each may sign, how many it takes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astra.trusted.file_ledger.offline import open_offline
from astra.trusted.kernel.errors import AstraError, SignatureRejected, SignaturesMissing
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain
from astra.trusted.ledger.record import Event, Head
from astra.trusted.policy import authority, operators, scopes
from astra.trusted.policy.operators import OperatorsRefused
from astra.trusted.policy.roles import FULL, Role, read_role
from astra.trusted.policy.rounds import list_waiting_rounds
from council import FULL_ROLE, REVIEWER, People, make_role

FLAG = ("flag_set", {"flag": "ASTRA_CODE_WRITE_ENABLED", "on": True})
CONFIG = ("config_signed", {"text": "", "sha256": "0"})


@pytest.fixture
def people() -> People:
    return People()


def test_a_root_with_one_operator_records_what_it_always_did(people: People) -> None:
    record = people.record("owner", *FLAG)
    assert record.actor == "operator"
    assert set(record.data["authority"]) == {"statement", "signature", "key"}
    assert people.names == ["owner"]


def test_a_second_operator_signs_with_their_own_key_and_the_record_says_who(people: People) -> None:
    people.enrol("anna")
    record = people.record("anna", *FLAG)
    assert record.actor == "operator:anna"
    assert authority.find_signers(people.ledger, record) == ("anna",)
    assert people.record("owner", *FLAG).actor == "operator:owner"
    (_, anna) = people.council.operators
    assert anna.signed_by == ("owner",)


def test_records_of_before_an_enrolment_hold_after_it(people: People) -> None:
    first = people.record("owner", *FLAG)
    people.enrol("anna")
    assert authority.find_signers(people.ledger, first) == ("owner",)


def test_a_removed_operator_signs_no_more_and_what_they_signed_stays(people: People) -> None:
    people.enrol("anna")
    earlier = people.record("anna", *FLAG)
    people.remove("anna")
    assert people.holds(earlier)
    with pytest.raises(SignatureRejected, match="not signed with the operator's key"):
        people.record("anna", *FLAG)


def test_the_others_may_remove_the_owner_and_recovery_brings_nobody_back(people: People) -> None:
    people.enrol("anna")
    people.remove("owner", by="anna")
    assert people.names == ["anna"]
    assert people.council.operator == ""
    content = {"new_key": KeyPair.generate().public}
    signed = people.root.sign(authority.KEY_ROTATED, content, people.root.recovery)
    with pytest.raises(SignatureRejected, match="owner is not an operator any more"):
        authority.build_rotation_event(
            people.ledger, content["new_key"], signed, now=people.root.clock.now()
        )


def test_each_operator_rotates_their_own_key(people: People) -> None:
    people.enrol("anna")
    new = KeyPair.generate()
    signed = people.sign("anna", authority.KEY_ROTATED, {"new_key": new.public})
    event = authority.build_rotation_event(
        people.ledger, new.public, signed, now=people.root.clock.now()
    )
    people.ledger.append([event])
    people.keys["anna"] = new
    assert people.record("anna", *FLAG).actor == "operator:anna"
    assert people.record("owner", *FLAG).actor == "operator:owner"


# Roles


@pytest.mark.parametrize(
    ("role", "action", "allowed"),
    [
        (make_role("flags"), FLAG, True),
        (make_role("approve"), FLAG, False),
        (make_role("flags"), CONFIG, False),
        (make_role("configuration"), CONFIG, True),
        (make_role("flags"), ("token_created", {}), False),
        (make_role("flags"), ("an_action_of_a_later_version", {}), False),
        (FULL_ROLE, ("an_action_of_a_later_version", {}), True),
        (make_role("permissions", tier=1), ("standing_permission_added", {}), False),
        (make_role("permissions", paths=("docs/**",)), ("merge_permission_added", {}), False),
        (make_role("permissions"), ("merge_permission_added", {"deploy": True}), False),
    ],
)
def test_a_role_covers_its_duties_and_nothing_else(
    people: People, role: dict[str, Any], action: tuple[str, dict[str, Any]], allowed: bool
) -> None:
    people.enrol("anna", role)
    if allowed:
        assert people.holds(people.record("anna", *action))
        return
    before = people.ledger.head()
    with pytest.raises(SignatureRejected) as refusal:
        people.record("anna", *action)
    assert refusal.value.reason == "role_too_small"
    assert people.ledger.head() == before


def test_every_signed_action_that_a_role_can_name_is_an_event() -> None:
    from astra.bootstrap.events import EVENTS

    assert set(scopes._ACTIONS) | set(scopes._OWN) <= set(EVENTS)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (REVIEWER, True),
        (make_role("approve", tier=0), False),
        (make_role("approve:plan"), False),
        (make_role("approve", paths=("src/**",)), True),
        (make_role("approve", paths=("docs/**",)), False),
    ],
)
def test_a_change_is_approved_within_tier_kind_and_paths(
    people: People, role: dict[str, Any], allowed: bool
) -> None:
    people.enrol("anna", role)
    identifier = people.ask()
    if allowed:
        people.approve(identifier, by="anna")
        assert people.desk.stands(identifier)
        assert people.desk.details(identifier)["signatures"]["signed_by"] == ["anna"]
    else:
        with pytest.raises(SignatureRejected):
            people.approve(identifier, by="anna")
        assert people.desk.get(identifier).state == "pending"


def test_a_deploy_within_an_approval_takes_the_duty_to_deploy(people: People) -> None:
    people.enrol("anna", REVIEWER)
    with pytest.raises(SignatureRejected, match="does not cover deploy"):
        people.approve(people.ask(), by="anna", deploy=True)
    people.approve(people.ask(), by="owner", deploy=True)


def test_a_role_counts_as_it_was_when_something_was_signed(people: People) -> None:
    people.enrol("anna")
    earlier = people.record("anna", *FLAG)
    role = {"name": "anna", "role": make_role("approve")}
    people.change("owner", operators.ROLE_SET, role)
    assert people.holds(earlier)
    with pytest.raises(SignatureRejected):
        people.record("anna", *FLAG)


# Several signatures


def test_a_first_signature_waits_and_the_second_completes_it(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by owner, waits for one more"):
        people.record("owner", *CONFIG)
    (waiting,) = list_waiting_rounds(people.ledger, now=people.root.clock.now())
    assert (waiting["action"], waiting["signed_by"]) == ("config_signed", ["owner"])
    record = people.record("anna", *CONFIG)
    assert authority.find_signers(people.ledger, record) == ("owner", "anna")
    assert list_waiting_rounds(people.ledger, now=people.root.clock.now()) == []


def test_a_protected_change_takes_two_and_others_take_one(people: People) -> None:
    people.enrol("anna")
    people.set_rules(protected=2)
    people.approve(people.ask(), by="anna")
    protected = people.ask(protected=["src/core.py"])
    terms = {"consent": ["src/core.py"]}
    with pytest.raises(SignaturesMissing):
        people.approve(protected, by="anna", **terms)
    signatures = people.desk.details(protected)["signatures"]
    assert signatures["needed"] == 2
    assert [each["signed_by"] for each in signatures["rounds"]] == [["anna"]]
    assert people.desk.get(protected).state == "pending"
    people.approve(protected, by="owner", **terms)
    assert people.desk.stands(protected)
    assert people.desk.details(protected)["signatures"]["signed_by"] == ["anna", "owner"]


def test_other_terms_are_another_round(people: People) -> None:
    people.enrol("anna")
    people.set_rules(protected=2)
    protected = people.ask(protected=["src/core.py"])
    with pytest.raises(SignaturesMissing):
        people.approve(protected, by="anna", consent=["src/core.py"])
    with pytest.raises(SignaturesMissing, match="signed by owner"):
        people.approve(protected, by="owner", consent=["src/core.py"], deploy=True)


def test_a_forced_deployment_counts_as_protected(people: People) -> None:
    people.enrol("anna")
    people.set_rules(protected=2)
    content = {"commit": "c", "digest": "d", "force": True}
    with pytest.raises(SignaturesMissing):
        people.record("owner", "deployment_ordered", content)
    people.record("owner", "deployment_ordered", {**content, "force": False})


def test_a_signature_lapses_after_a_day(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("owner", *CONFIG)
    people.root.clock.advance(hours=24, minutes=1)
    with pytest.raises(SignaturesMissing, match="signed by anna"):
        people.record("anna", *CONFIG)


def test_a_lower_quorum_takes_the_higher_one_to_set(people: People) -> None:
    people.enrol("anna")
    people.set_rules(operators=2)
    with pytest.raises(SignaturesMissing):
        people.set_rules(by="anna")
    people.set_rules(by="owner")
    assert people.council.rules.as_dict()["quorum"]["operators"] == 1


def test_several_signatures_are_counted_without_a_daemon_too(people: People) -> None:
    people.enrol("anna")
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("owner", *CONFIG)
    both = people.record("anna", *CONFIG)
    data = {**CONFIG[1], "authority": people.sign("owner", *CONFIG).as_dict()}
    forged = Event(type=CONFIG[0], actor="operator:owner", data=data, signed=True)
    (alone,) = people.ledger.append([forged])
    with open_offline(LinesInMemory(people.ledger.lines)) as offline:
        assert authority.find_signers(offline, both) == ("owner", "anna")
        assert authority.find_signers(offline, alone) == ()


@dataclass
class LinesInMemory:
    """A chain as it is stored, of lines."""

    lines: list[str]

    def read_lines(self, *, after: int = 0) -> Iterator[str]:
        return iter(self.lines[after:])

    def read_segments(self) -> Iterator[tuple[str, Iterable[bytes]]]:
        yield "2026-03", (f"{line}\n".encode() for line in self.lines)

    def read_end(self) -> Head:
        last = chain.parse(self.lines[-1])
        return Head(last.sequence, last.hash, last.time)


# No deadlock


DEADLOCKS: dict[str, Callable[[People], Any]] = {
    "the only operator": lambda people: people.remove("owner", by="anna"),
    "a quorum of more than there are": lambda people: people.set_rules(operators=3),
    "protected beyond those who may": lambda people: people.set_rules(protected=3),
    "nobody else to approve": lambda people: people.set_rules(protected=2, separate=True),
}


@pytest.mark.parametrize("name", DEADLOCKS)
def test_what_nobody_could_fulfil_is_refused(name: str, people: People) -> None:
    people.enrol("anna", FULL_ROLE if name != "the only operator" else make_role("operators"))
    before = people.ledger.head()
    with pytest.raises(AstraError):
        DEADLOCKS[name](people)
    assert people.ledger.head() == before


def test_a_removal_below_the_quorum_is_refused(people: People) -> None:
    people.enrol("anna")
    people.set_rules(operators=2)
    with pytest.raises(OperatorsRefused) as refusal:
        people.remove("anna")
    assert refusal.value.reason == "nobody_could_sign"


# Who asked may not approve


def test_who_signed_the_first_record_of_something_may_not_approve_it(people: People) -> None:
    people.enrol("anna")
    people.set_rules(separate=True)
    goal = "goal_00000001"
    people.record("anna", "readiness_signed_off", {"about": goal})
    request = people.ask(kind="goal", subject=goal, actor="daemon")
    with pytest.raises(SignatureRejected, match="anna asked for this"):
        people.approve(request, by="anna")
    people.approve(request, by="owner")
    assert people.desk.stands(request)


def test_what_an_unseen_operator_asked_for_takes_two(people: People) -> None:
    people.enrol("anna")
    people.set_rules(separate=True)
    request = people.ask(actor="agent:session:ses_0000000000000001")
    with pytest.raises(SignaturesMissing):
        people.approve(request, by="anna")
    people.approve(request, by="owner")
    assert people.desk.stands(request)


def test_what_an_agent_asked_for_takes_one(people: People) -> None:
    people.enrol("anna")
    people.set_rules(separate=True)
    request = people.ask(actor="agent:user:1000")
    people.approve(request, by="anna")
    assert people.desk.stands(request)


# Over any history

NAMES = ("owner", "anna", "bert", "carl")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("enrol"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("remove"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("narrow"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("rules"), st.sampled_from(NAMES), st.sampled_from((1, 2, 3))),
        st.tuples(st.just("config"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_over_any_history_enough_full_operators_are_left_and_decisions_have_their_quorum(
    steps: list[tuple[str, str, Any]],
) -> None:
    people = People()
    for name in NAMES:
        people.keys.setdefault(name, KeyPair.generate())
    for kind, by, about in steps:
        required = people.council.rules.as_dict()["quorum"]
        present = set(people.names)
        try:
            record = _take_step(people, kind, by, about)
        except AstraError:
            continue
        signers = set(authority.find_signers(people.ledger, record))
        quorum = "configuration" if kind == "config" else "operators"
        assert len(signers) >= required[quorum]
        assert signers <= present
        assert not (kind == "remove" and about in signers)
    council = people.council
    full = [operator for operator in council.operators if operator.role == FULL]
    assert len(full) >= council.rules.as_dict()["quorum"]["operators"] >= 1
    keys = [operator.key for operator in council.operators]
    assert len(set(keys)) == len(keys)


def _take_step(people: People, kind: str, by: str, about: Any) -> Any:
    if kind == "enrol":
        return people.enrol(about, by=by)
    if kind == "remove":
        return people.remove(about, by=by)
    if kind == "narrow":
        role = {"name": about, "role": make_role("approve", "operators")}
        return people.change(by, operators.ROLE_SET, role)
    if kind == "rules":
        return people.set_rules(by=by, operators=about, configuration=about)
    return people.record(by, *CONFIG)


ROLES = st.builds(
    Role,
    duties=st.frozensets(st.sampled_from(("approve", "approve:plan", "flags", "operators"))),
    tier=st.integers(0, 2),
    paths=st.sampled_from(((), ("docs/**",), ("docs/**", "src/**"))),
)


@given(ROLES, ROLES, ROLES)
def test_roles_never_widen_by_passing_them_on(first: Role, second: Role, third: Role) -> None:
    if first.includes(second) and second.includes(third):
        assert first.includes(third)


@given(ROLES, ROLES)
def test_a_role_that_includes_another_covers_whatever_it_covers(wide: Role, narrow: Role) -> None:
    if not wide.includes(narrow):
        return
    for duty in ("approve:plan", "approve:change", "flags", "operators"):
        for tier in (0, 1, 2):
            for paths in ((), ("docs/a.md",), ("src/a.py",), None):
                scope = scopes.Scope(duty=duty, tier=tier, paths=paths)
                assert narrow.find_objection(scope) or not wide.find_objection(scope)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"duties": [], "tier": 2, "paths": []},
        {"duties": ["nothing"], "tier": 2, "paths": []},
        {"duties": ["flags"], "tier": 3, "paths": []},
        {"duties": ["flags"], "tier": True, "paths": []},
        {"duties": ["start", "flags"], "tier": 2, "paths": []},
        {"duties": ["flags"], "tier": 2, "paths": ["../x"]},
        {"duties": ["flags"], "tier": 2, "paths": ["docs//a"]},
        {"duties": ["flags"], "tier": 2, "paths": [], "more": 1},
    ],
)
def test_a_role_that_is_not_clear_is_refused(value: Any) -> None:
    with pytest.raises(AstraError):
        read_role(value)
