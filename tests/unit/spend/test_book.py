"""Model calls are reserved before and settled after, under every cap that the operator signed."""

from typing import Any

import pytest

from astra.spend.model import NOTHING, Account, Amount, SpendRefused
from astra.spend.projection import REACHED, RESERVED, SETTLED
from astra.spend.usage import Report
from spend_in_memory import ACCOUNT, PRICES, SpendInMemory

TALK = Account(actor="operator", correlation="cor_0000000000000002")


def refuse(world: SpendInMemory, tokens: int, **options: Any) -> SpendRefused:
    with pytest.raises(SpendRefused) as refusal:
        world.reserve(tokens, **options)
    return refusal.value


def test_without_caps_nothing_is_reserved_or_recorded() -> None:
    world = SpendInMemory(PRICES)
    before = world.root.ledger.head().sequence
    from astra.spend.book import Estimate

    estimate = Estimate(model="m", input_tokens=9**9, output_tokens=9**9, sent_bytes=1)
    assert world.book.reserve(ACCOUNT, estimate) is None
    assert not world.book.waits(ACCOUNT.plan)
    assert world.root.ledger.head().sequence == before


def test_a_reservation_counts_before_the_call_and_what_was_reported_after_it() -> None:
    world = SpendInMemory("tokens_per_day = 1000")
    reservation = world.reserve(600, output=200)
    assert world.total().reserved == Amount(tokens=800)
    world.book.settle(reservation, Report(input_tokens=150, output_tokens=50), received_bytes=40)
    assert world.total().settled == Amount(tokens=200)
    assert world.total().reserved == NOTHING
    assert world.total("plan").settled == world.total("goal").settled == Amount(tokens=200)
    assert world.total("actor").settled == world.total("model").settled == Amount(tokens=200)


def test_calls_that_run_at_once_cannot_pass_a_cap_together() -> None:
    world = SpendInMemory("tokens_per_plan = 1000")
    world.reserve(600)
    error = refuse(world, 401)
    assert error.reason == "spend_cap_reached"
    assert "tokens_per_plan of 1,000 tokens is reached: 600 tokens are counted" in error.detail
    world.reserve(400)
    assert world.total("plan").reserved == Amount(tokens=1000)


@pytest.mark.parametrize("kind", ["day", "actor", "goal", "plan"])
def test_each_scope_has_its_cap(kind: str) -> None:
    world = SpendInMemory(f"tokens_per_{kind} = 100")
    world.reserve(100)
    assert refuse(world, 1).facts["cap"] == f"tokens_per_{kind}"


def test_another_plan_actor_and_goal_have_room_of_their_own() -> None:
    caps = "tokens_per_plan = 100\ntokens_per_goal = 100\ntokens_per_actor = 100"
    world = SpendInMemory(caps)
    world.reserve(100)
    world.reserve(100, account=TALK)
    assert refuse(world, 1, account=TALK).facts["cap"] == "tokens_per_actor"


def test_the_next_day_has_room_again_and_a_plan_has_not() -> None:
    world = SpendInMemory("tokens_per_day = 100\ntokens_per_plan = 150")
    world.reserve(100)
    refuse(world, 50)
    world.root.clock.advance(days=1)
    world.reserve(50)
    assert refuse(world, 1).facts["cap"] == "tokens_per_plan"


def test_money_is_counted_by_the_price_of_the_model() -> None:
    world = SpendInMemory(f"money_per_day = 0.01\n{PRICES}")
    reservation = world.reserve(4_000, output=3_000)
    assert world.total().reserved.nano == 10_000_000
    refuse(world, 1)
    report = Report(input_tokens=1_000, output_tokens=100, cached_tokens=400)
    world.book.settle(reservation, report, received_bytes=400)
    assert world.total().settled.nano == 600 * 1_000 + 400 * 500 + 100 * 2_000


def test_a_model_without_a_price_is_refused_under_a_cap_on_money() -> None:
    world = SpendInMemory(f"money_per_day = 1\n{PRICES}")
    error = refuse(world, 1, model="anthropic:new")
    assert error.reason == "no_price"
    assert 'model = "anthropic:new"' in error.next_step
    assert world.book.waits(ACCOUNT.plan)
    world.sign('money_per_day = 1\n[[spend.prices]]\nmodel = "*"\ninput = 1\noutput = 1')
    assert not world.book.waits(ACCOUNT.plan)


def test_a_model_without_a_price_is_held_to_caps_on_tokens() -> None:
    world = SpendInMemory("tokens_per_day = 10")
    world.reserve(10, model="anthropic:new")
    refuse(world, 1, model="anthropic:new")


def test_a_cap_of_nothing_lets_nothing_be_spent() -> None:
    assert refuse(SpendInMemory("tokens_per_day = 0"), 1).facts["cap"] == "tokens_per_day"


def test_what_was_reserved_and_never_settled_stays_reserved() -> None:
    world = SpendInMemory("tokens_per_day = 100")
    reservation = world.reserve(80)
    assert world.book.is_under_way(reservation.call)
    world.book = world.open_book()
    assert not world.book.is_under_way(reservation.call)
    assert world.total().reserved == Amount(tokens=80)
    refuse(world, 21)


def test_a_call_that_never_arrived_takes_nothing() -> None:
    world = SpendInMemory("tokens_per_day = 100")
    world.book.release(world.reserve(100))
    assert world.total().counted == NOTHING


def test_what_nobody_knows_counts_as_reserved_and_says_why() -> None:
    world = SpendInMemory("tokens_per_day = 100")
    world.book.settle_uncertain(world.reserve(100), "the call ended by TimeoutError")
    assert world.total().uncertain == Amount(tokens=100)
    record = world.root.ledger.newest(SETTLED)
    assert record is not None
    assert record.data["why"] == "the call ended by TimeoutError"
    assert not record.data["certain"]


def test_a_settlement_counts_once() -> None:
    from astra.trusted.kernel.errors import DuplicateKey

    world = SpendInMemory("tokens_per_day = 100")
    reservation = world.reserve(50)
    world.book.release(reservation)
    with pytest.raises(DuplicateKey):
        world.book.release(reservation)
    assert world.total().counted == NOTHING


def test_who_waits_is_recorded_once_and_goes_on_when_there_is_room() -> None:
    world = SpendInMemory("tokens_per_day = 100")
    reservation = world.reserve(100)
    for _ in range(3):
        refuse(world, 30)
    assert len(world.root.ledger.records(REACHED)) == 1
    assert world.book.waits(ACCOUNT.plan)
    world.book.settle(reservation, Report(input_tokens=70, output_tokens=0), received_bytes=0)
    assert not world.book.waits(ACCOUNT.plan)
    world.reserve(30)
    assert world.root.ledger.query("SELECT * FROM spend_waiting") == []


def test_a_talk_is_refused_and_nothing_waits_for_it() -> None:
    world = SpendInMemory("tokens_per_day = 10")
    refuse(world, 11, account=TALK)
    assert world.root.ledger.records(REACHED) == []


def test_an_unsigned_configuration_caps_nothing_and_loosens_nothing() -> None:
    from astra.trusted.ledger.record import Event

    world = SpendInMemory("tokens_per_day = 10")
    forged = {"text": "[spend]\ntokens_per_day = 1000", "sha256": "x"}
    world.root.ledger.append(
        [Event(type="config_signed", actor="operator", data=forged, subject="configuration")]
    )
    refuse(world, 11)


def test_a_reservation_says_who_for_and_how_much() -> None:
    world = SpendInMemory("tokens_per_day = 100")
    world.reserve(40, output=2)
    record = world.root.ledger.newest(RESERVED)
    assert record is not None
    assert record.data["plan"] == ACCOUNT.plan
    assert record.data["reserved"] == {"tokens": 42, "nano": 0}
    assert record.correlation == ACCOUNT.correlation
