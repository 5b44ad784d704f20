"""A cap that is reached asks for one signature, which raises it for one scope."""

import pytest

from astra.spend.model import Account, SpendRefused
from astra.spend.projection import RAISED
from spend_in_memory import ACCOUNT, SpendInMemory

OTHER = Account(actor="agent:b", plan="plan_00000002", correlation="cor_0000000000000003")


def ask(world: SpendInMemory, tokens: int, account: Account = ACCOUNT) -> str:
    with pytest.raises(SpendRefused) as refusal:
        world.reserve(tokens, account=account)
    return str(refusal.value.facts["approval_id"])


def test_the_request_says_which_cap_from_what_to_what() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    approval = ask(world, 1001)
    summary = world.gate.desk.get(approval).summary
    assert summary == (
        "raise tokens_per_plan of plan:plan_00000001 from 1,000 tokens to 2,000 tokens"
    )


def test_a_signature_gives_room_to_that_plan_alone() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    world.approve(ask(world, 1500))
    world.reserve(1500)
    assert ask(world, 1500, OTHER)


def test_a_request_is_made_once_while_it_waits() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    assert ask(world, 1001) == ask(world, 1200) == ask(world, 1900, OTHER)


def test_a_call_that_needs_more_takes_the_place_of_the_request_that_would_not_do() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    first = ask(world, 1500)
    second = ask(world, 2500)
    assert world.gate.desk.get(first).state == "stale"
    assert "to 3,000 tokens" in world.gate.desk.get(second).summary


def test_a_no_is_not_asked_again_from_the_same_place() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    world.gate.desk.reject(ask(world, 1001), "no", actor="operator")
    assert ask(world, 1001) == ask(world, 9001) == ""


def test_raises_add_up_and_each_takes_a_signature() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    world.approve(ask(world, 1001))
    world.reserve(2000)
    world.approve(ask(world, 1))
    world.reserve(1000)
    assert len(world.root.ledger.records(RAISED)) == 2


def test_a_raise_of_a_day_ends_with_the_day() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    world.approve(ask(world, 1001))
    world.root.clock.advance(days=1)
    assert ask(world, 1001)


def test_signing_another_cap_ends_a_raise() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    world.approve(ask(world, 1500))
    world.sign("tokens_per_plan = 1200")
    assert ask(world, 1201)


def test_a_raised_cap_lets_who_waited_go_on() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    approval = ask(world, 1500)
    assert world.book.waits(ACCOUNT.plan)
    world.approve(approval)
    assert not world.book.waits(ACCOUNT.plan)


def test_the_flow_puts_a_granted_raise_into_force() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    approval = ask(world, 1500)
    world.gate.approve(approval)
    world.gate.steps().run_due()
    assert world.gate.desk.get(approval).state == "used"
    world.reserve(1500)
