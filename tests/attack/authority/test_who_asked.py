"""Who asked may not approve: also at a terminal, with a token, or through a goal of theirs."""

from typing import Any

import pytest

from astra.trusted.kernel.errors import SignatureRejected, SignaturesMissing
from astra.trusted.ledger.record import Event
from astra.trusted.policy import access, operators
from astra.trusted.policy.limits import build_limits
from astra.trusted.policy.operators import OperatorsRefused
from council import People

ANNAS_USER = "1007"


@pytest.fixture
def people() -> People:
    people = People()
    people.enrol("anna")
    people.enrol("bert")
    people.set_rules(separate=True)
    return people


def make_token(people: People, by: str, **wanted: Any) -> str:
    now = people.root.clock.now()
    content = access.token_content(
        f"secret of {by}", **{"name": "robot", "role": "agent", "days": 1, "now": now, **wanted}
    )
    signed = people.sign(by, access.TOKEN_CREATED, content)
    access.create_token(people.ledger, content, signed, now=now)
    return str(content["token"])


def set_users(people: People, name: str, *users: str, by: str = "owner") -> None:
    people.change(by, operators.USERS_SET, {"name": name, "users": list(users)})


def propose(people: People, actor: str, subject: str = "chg_0000000a") -> str:
    """Record a proposal as its door would, and ask for its approval."""
    event = Event(type="code_modification_proposed", actor=actor, data={}, subject=subject)
    people.ledger.append([event])
    return people.ask(subject=subject, actor="agent:flow")


def expect_annas(people: People, approval: str) -> None:
    with pytest.raises(SignatureRejected, match="anna asked for this"):
        people.approve(approval, by="anna")
    people.approve(approval, by="bert")
    assert people.desk.stands(approval)


@pytest.mark.parametrize("role", ["operator", "agent", "service"])
def test_an_operators_own_token_asks_for_its_operator(people: People, role: str) -> None:
    limits = build_limits(routes=["POST /api/changes"] if role == "service" else [])
    token = make_token(people, "anna", role=role, mine=role != "operator", limits=limits)
    expect_annas(people, propose(people, f"agent:token:{token}"))


def test_an_agents_token_asks_for_the_agent_whoever_made_it(people: People) -> None:
    token = make_token(people, "anna")
    people.approve(propose(people, f"agent:token:{token}"), by="anna")


def test_a_token_that_nobody_signed_is_taken_for_somebodys(people: People) -> None:
    """Then two have to sign: one of them did not ask."""
    approval = propose(people, "agent:token:tok_0123456789abcdef")
    with pytest.raises(SignaturesMissing):
        people.approve(approval, by="anna")
    people.approve(approval, by="bert")


@pytest.mark.parametrize("role", ["", "agent:", "operator:"])
def test_what_is_asked_at_an_operators_terminal_is_that_operators(
    people: People, role: str
) -> None:
    set_users(people, "anna", ANNAS_USER)
    expect_annas(people, propose(people, f"{role}user:{ANNAS_USER}"))


def test_the_agents_os_user_is_nobody(people: People) -> None:
    set_users(people, "anna", ANNAS_USER)
    people.approve(propose(people, "agent:user:990"), by="anna")


def test_whose_an_os_user_was_counts_at_the_place_of_the_request(people: People) -> None:
    set_users(people, "anna", ANNAS_USER)
    approval = propose(people, f"agent:user:{ANNAS_USER}")
    set_users(people, "anna")
    expect_annas(people, approval)


def test_nobody_makes_themself_unknown_at_a_terminal(people: People) -> None:
    set_users(people, "anna", ANNAS_USER)
    with pytest.raises(SignatureRejected, match="another operator signs"):
        set_users(people, "anna", by="anna")
    set_users(people, "anna", ANNAS_USER, "1008", by="anna")
    council = people.council.find_by_name("anna")
    assert council
    assert council.users == (ANNAS_USER, "1008")


@pytest.mark.parametrize("users", [["x"], ["-1"], ["01"], ["2", "1"], ["1", "1"], "1", [1], [None]])
def test_what_is_no_list_of_os_users_changes_nothing(people: People, users: Any) -> None:
    with pytest.raises(OperatorsRefused):
        people.change("owner", operators.USERS_SET, {"name": "anna", "users": users})


def test_one_os_user_is_not_two_operators(people: People) -> None:
    set_users(people, "anna", ANNAS_USER)
    with pytest.raises(OperatorsRefused, match=r"is anna's"):
        set_users(people, "bert", ANNAS_USER)


def test_what_a_goal_or_a_plan_of_an_operator_asks_for_is_that_operators(people: People) -> None:
    token = make_token(people, "anna", role="operator")
    plan, goal = "plan_00000001", "goal_00000001"
    for subject, actor in ((goal, f"agent:token:{token}"), (plan, f"agent:{goal}")):
        people.ledger.append([Event(type="anything", actor=actor, data={}, subject=subject)])
    expect_annas(people, propose(people, f"agent:{plan}"))


def test_requests_that_lead_in_a_circle_are_followed_no_further(people: People) -> None:
    for subject, other in (("goal_00000001", "goal_00000002"), ("goal_00000002", "goal_00000001")):
        people.ledger.append(
            [Event(type="anything", actor=f"agent:{other}", data={}, subject=subject)]
        )
    people.approve(propose(people, "agent:goal_00000002"), by="anna")


def test_a_removed_operators_own_tokens_end_and_the_agents_stay(people: People) -> None:
    own = make_token(people, "anna", role="operator")
    agents = make_token(people, "anna")
    theirs = make_token(people, "bert", role="operator")
    people.remove("anna")
    ended = {token.id: bool(token.ended) for token in access.list_tokens(people.ledger)}
    assert ended == {own: True, agents: False, theirs: False}


# Signatures that several give


CONFIG = ("config_signed", {"text": "", "sha256": "0"})
OTHER_CONFIG = ("config_signed", {"text": "x", "sha256": "1"})


def test_an_old_signature_does_not_bring_back_what_was_decided_over(people: People) -> None:
    """One operator and a signature of yesterday are not two operators."""
    people.set_rules(configuration=2)
    with pytest.raises(SignaturesMissing):
        people.record("anna", *CONFIG)
    with pytest.raises(SignaturesMissing):
        people.record("anna", *OTHER_CONFIG)
    people.record("bert", *OTHER_CONFIG)
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by bert"):
        people.record("bert", *CONFIG)


def test_running_without_a_sandbox_is_not_allowed_again_by_the_half_that_is_left(
    people: People,
) -> None:
    people.set_rules(configuration=2)
    unsafe = ("sandbox_off_allowed", {"sandbox": "off-unsafe"})
    with pytest.raises(SignaturesMissing):
        people.record("anna", *unsafe)
    people.ledger.append([Event(type="sandbox_off_revoked", actor="user:1000", data={})])
    with pytest.raises(SignaturesMissing, match="1 of 2: signed by bert"):
        people.record("bert", *unsafe)


def test_two_who_sign_first_at_once_decide(people: People) -> None:
    """Each saw no signature; the ledger lets the second look again, and it completes."""
    from astra.trusted.policy import authority, cosigning

    people.set_rules(configuration=2)
    event = Event(type=CONFIG[0], actor="operator", data=dict(CONFIG[1]))
    round_name, ledger = cosigning.name_round(*CONFIG), people.ledger
    berts = people.sign("bert", *CONFIG)
    asked = False
    version_of = ledger.version

    def version_then_other(subject: str) -> int:
        nonlocal asked
        version = version_of(subject)
        if subject == round_name and not asked:
            asked = True
            with pytest.raises(SignaturesMissing):
                people.record("anna", *CONFIG)
        return version

    ledger.version = version_then_other  # pyright: ignore[reportAttributeAccessIssue]
    now = people.root.clock.now()
    decision = authority.signed_event(ledger, event, berts, now=now)
    (record,) = ledger.append([decision])
    assert people.holds(record)
