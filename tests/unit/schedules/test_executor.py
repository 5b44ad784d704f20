"""What the executor does with a firing of each tier, and when it does not run: the reason why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from astra.schedules import events
from astra.schedules.executor import BATCH
from astra.schedules.model import Definition
from astra.trusted.kernel import cancellation
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import AstraError, Conflict
from astra.trusted.ledger import views as records
from astra.trusted.policy.call import Tier


def outcomes(world: Any, schedule: Any) -> list[tuple[str, str]]:
    return [(item["outcome"], item["reason"]) for item in world.history(schedule)]


def types(world: Any) -> list[str]:
    return [record.type for record in records.records(world.ledger, limit=10_000)]


def minutes(world: Any, count: int) -> None:
    for _ in range(count):
        world.advance(minutes=1)


class Died(BaseException):
    """Stands for a process that ends in the middle of a tool."""


def die() -> None:
    raise Died


def die_during(world: Any, **step: float) -> None:
    """Let a firing begin and the process die before it can say how it went."""
    world.meanwhile = die
    with pytest.raises(Died):
        world.advance(**step)
    world.meanwhile = lambda: None
    world.executor = world.new_executor()


# Tiers and budgets


def test_tier_0_runs_at_once_and_has_no_budget(world: Any) -> None:
    schedule = world.create("look", per_day_budget=1)
    minutes(world, 10)
    assert outcomes(world, schedule) == [("succeeded", "ok")] * 10


def test_a_firing_is_recorded_with_its_time_duration_and_story(world: Any) -> None:
    schedule = world.create("look", payload={"text": "hi"})
    world.advance(minutes=1)
    (item,) = world.history(schedule)
    assert item["fire_time"] == "2026-03-01T12:01:00.000000Z"
    assert item["milliseconds"] > 0
    assert item["tool"] == "look"
    story = [record.type for record in records.story(world.ledger, item["trace"])]
    assert story == ["schedule_firing_claimed", "tool_called", "schedule_firing_closed"]
    assert world.ran == [("look", "hi")]


def test_tier_1_runs_four_times_a_day_unless_told_otherwise(world: Any) -> None:
    schedule = world.create("write")
    minutes(world, 6)
    assert [reason for _, reason in outcomes(world, schedule)] == ["ok"] * 4 + ["budget_spent"] * 2
    assert len(world.ran) == 4


def test_the_budget_starts_again_at_midnight_utc_and_survives_a_restart(world: Any) -> None:
    schedule = world.create("write", "*/10 * * * *", timezone="Asia/Kolkata", per_day_budget=2)
    world.clock.set(datetime(2026, 3, 1, 23, 25, tzinfo=UTC))
    world.timetable.modify(schedule.id, {"name": "later"}, actor="agent:test")
    for _ in range(3):
        world.advance(minutes=10)
        world.executor = world.new_executor()
        world.executor.settle()
    assert len(world.ran) == 2
    world.advance(minutes=10)
    assert [item["reason"] for item in world.history(schedule)] == [
        "ok",
        "ok",
        "budget_spent",
        "ok",
    ]


def test_many_schedules_do_not_multiply_the_pool_of_their_actor(world: Any) -> None:
    many = [world.create("write", name=f"s{n}", per_day_budget=500) for n in range(6)]
    minutes(world, 90)
    spent = [item["reason"] for each in many for item in world.history(each)]
    assert spent.count("ok") == 500, "the tool's own budget holds for all of them together"
    assert set(spent) == {"ok", "budget_spent"}


def test_a_declared_tier_above_the_tools_own_is_kept(world: Any) -> None:
    schedule = world.create("look", safety_tier=2)
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("skipped", "needs_approval")]


def test_a_tool_whose_tier_rose_since_does_not_run(world: Any) -> None:
    schedule = world.create("look")
    raised = world.tool("look", Tier.LOCAL_WRITE)
    world.counter.registry._names["look"] = raised
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("skipped", "tier_too_low")]
    assert world.ran == []


def test_a_schedule_whose_tool_was_removed_is_kept_and_says_so(world: Any) -> None:
    schedule = world.create("look")
    del world.counter.registry._names["look"]
    minutes(world, 3)
    assert outcomes(world, schedule) == [("skipped", "unknown_tool")] * 3
    assert types(world).count("schedule_notice_raised") == 1, "people hear of it once a day"
    assert world.timetable.get(schedule.id).state == "active"


def test_a_hidden_tool_is_skipped_until_its_flag_is_on(world: Any) -> None:
    schedule = world.create("deploy")
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("skipped", "flag_off")]
    assert world.gate.desk.list_by_state() == [], "nobody is asked to approve what is switched off"
    world.gate.on["ASTRA_CODE_WRITE_ENABLED"] = True
    world.advance(minutes=1)
    assert outcomes(world, schedule)[-1] == ("skipped", "needs_approval")


@pytest.mark.parametrize("why", ["flag_off", "stopped"])
def test_with_the_scheduler_off_every_firing_is_skipped_with_the_reason(
    world: Any, why: str
) -> None:
    schedule = world.create("look")
    world.why_closed = why
    minutes(world, 2)
    assert outcomes(world, schedule) == [("skipped", why)] * 2
    with pytest.raises(Conflict) as refused:
        world.executor.by_hand.run_now(schedule.id, actor="agent:test")
    assert refused.value.reason == why
    world.why_closed = ""
    minutes(world, 1)
    assert world.ran == [("look", "")], "what was skipped is not made up for"


# Never twice


def test_two_daemons_never_run_one_firing_twice(world: Any) -> None:
    schedule = world.create("look")
    other = world.new_executor()
    seen: list[int] = []
    world.meanwhile = lambda: seen.append(other.run_due())
    minutes(world, 3)
    assert seen == [0, 0, 0], "the second finds nothing due"
    assert len(world.history(schedule)) == len(world.ran) == 3


def test_a_claim_that_lost_is_forgotten(world: Any) -> None:
    kept, moved = world.create("look", name="a"), world.create("look", name="b")
    closed = world.executor.closed

    def change_meanwhile() -> str:
        world.timetable.pause(moved.id, actor="agent:test")
        return closed()

    world.executor.closed = change_meanwhile
    world.advance(minutes=1)
    assert outcomes(world, kept) == [("succeeded", "ok")]
    assert outcomes(world, moved) == []


def test_an_interrupted_firing_is_closed_as_such_and_not_run_again(world: Any) -> None:
    schedule = world.create("count", attempts=3, per_day_budget=10)
    die_during(world, minutes=1)
    assert outcomes(world, schedule) == [("running", "")]
    assert world.executor.settle() == 1
    assert outcomes(world, schedule) == [("interrupted", "interrupted")]
    assert world.executor.settle() == 0
    world.advance(seconds=30)
    assert world.ran == [("count", "")], "it may not happen twice, so it does not"


def test_an_interrupted_firing_is_tried_again_where_twice_is_the_same_as_once(world: Any) -> None:
    schedule = world.create("write", "@hourly", attempts=2, backoff_seconds=10)
    die_during(world, hours=1)
    world.executor.settle()
    assert outcomes(world, schedule) == [("retrying", "interrupted")]
    world.advance(seconds=10)
    (item,) = world.history(schedule)
    assert (item["outcome"], item["attempt"]) == ("succeeded", 2)


# Overlap and catch-up


def overlapping(world: Any, count: int = 2) -> None:
    """Make a firing last long enough for the next ones to fall due meanwhile."""
    left = [count]

    def go_on() -> None:
        if left[0]:
            left[0] -= 1
            world.clock.advance(minutes=1)
            world.executor.run_due()

    world.meanwhile = go_on


def test_while_one_runs_the_next_is_skipped(world: Any) -> None:
    schedule = world.create("look")
    overlapping(world, 1)
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("succeeded", "ok"), ("skipped", "overlap")]


def test_with_queue_the_next_ones_wait_and_run_in_order(world: Any) -> None:
    schedule = world.create("look", overlap="queue")
    overlapping(world)
    world.advance(minutes=1)
    assert [item["fire_time"][14:16] for item in world.history(schedule)] == ["01", "02", "03"]
    assert outcomes(world, schedule) == [("succeeded", "ok")] * 3
    assert len(world.ran) == 3


def test_with_cancel_previous_the_running_one_is_asked_to_end(world: Any) -> None:
    schedule = world.create("look", overlap="cancel-previous")
    asked: list[bool] = []
    overlapping(world, 1)
    go_on = world.meanwhile

    def watch() -> None:
        go_on()
        asked.append(cancellation.is_cancelled())

    world.meanwhile = watch
    world.advance(minutes=1)
    assert asked == [True, False]
    assert outcomes(world, schedule) == [("cancelled", "overlap"), ("succeeded", "ok")]


def test_with_cancel_previous_a_waiting_retry_is_dropped(world: Any) -> None:
    schedule = world.create("look", overlap="cancel-previous", attempts=5, backoff_seconds=600)
    world.failing = True
    world.advance(minutes=1)
    world.failing = False
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("cancelled", "overlap"), ("succeeded", "ok")]
    minutes(world, 15)
    assert len(world.ran) == 17


def test_what_was_queued_when_the_daemon_died_goes_on(world: Any) -> None:
    schedule = world.create("look", overlap="queue")
    overlapping(world, 1)
    go_on = world.meanwhile

    def go_on_and_die() -> None:
        go_on()
        raise Died

    world.meanwhile = go_on_and_die
    with pytest.raises(Died):
        world.advance(minutes=1)
    world.meanwhile = lambda: None
    world.executor = world.new_executor()
    world.executor.settle()
    assert [outcome for outcome, _ in outcomes(world, schedule)] == ["interrupted", "succeeded"]


def test_after_downtime_the_last_missed_firing_runs_and_the_rest_is_counted(world: Any) -> None:
    schedule = world.create("look", "0 * * * *")
    world.advance(hours=5, minutes=30)
    missed, caught = world.history(schedule)
    assert (missed["outcome"], missed["reason"], missed["count"]) == ("missed", "downtime", 4)
    assert missed["fire_time"] == "2026-03-01T13:00:00.000000Z"
    assert missed["until"] == "2026-03-01T16:00:00.000000Z"
    assert (caught["outcome"], caught["kind"]) == ("succeeded", "catch_up")
    assert caught["fire_time"] == "2026-03-01T17:00:00.000000Z"
    assert "schedule_notice_raised" in types(world)
    assert world.timetable.get(schedule.id).next_run == "2026-03-01T18:00:00.000000Z"


def test_what_is_older_than_the_window_is_only_counted(world: Any) -> None:
    schedule = world.create("look", "0 * * * *", catch_up_seconds=600)
    world.advance(hours=5, minutes=30)
    (missed,) = world.history(schedule)
    assert missed["count"] == 5
    assert world.ran == []


def test_a_minute_late_is_late_and_not_downtime(world: Any) -> None:
    schedule = world.create("look", "0 * * * *", catch_up_seconds=0)
    world.advance(hours=1, seconds=59)
    assert [item["kind"] for item in world.history(schedule)] == ["cron"]


def test_a_clock_set_back_fires_nothing_twice(world: Any) -> None:
    schedule = world.create("look")
    minutes(world, 3)
    world.clock.advance(minutes=-3)
    minutes(world, 5)
    assert len(world.history(schedule)) == 5
    assert [item["fire_time"][14:16] for item in world.history(schedule)] == [
        "01",
        "02",
        "03",
        "04",
        "05",
    ]


def test_modified_or_resumed_under_a_clock_set_back_it_repeats_nothing(world: Any) -> None:
    schedule = world.create("look")
    minutes(world, 5)
    world.clock.advance(minutes=-5)
    world.timetable.modify(schedule.id, {"name": "other"}, actor="agent:test")
    world.timetable.pause(schedule.id, actor="agent:test")
    world.timetable.resume(schedule.id, actor="agent:test")
    minutes(world, 7)
    assert [item["fire_time"][14:16] for item in world.history(schedule)] == [
        f"0{minute}" for minute in range(1, 8)
    ]


def test_a_schedule_that_points_at_a_firing_that_happened_moves_on(world: Any) -> None:
    schedule = world.create("look")
    world.advance(minutes=1)
    fired = world.history(schedule)[0]["fire_time"]
    stuck = world.timetable.get(schedule.id)
    world.ledger.append([events.adjusted(stuck, 1, fired, why="a test")])
    world.advance()
    minutes(world, 2)
    assert len(world.history(schedule)) == len(world.ran) == 3


def test_a_years_sleep_is_one_count_and_one_run(world: Any) -> None:
    schedule = world.create("look", "*/5 * * * *")
    world.advance(days=365)
    missed, caught = world.history(schedule)
    assert missed["count"] >= 10_000
    assert caught["outcome"] == "succeeded"


def test_backfill_runs_what_did_not_succeed_each_firing_once(world: Any) -> None:
    schedule = world.create("look", "0 * * * *", catch_up_seconds=0)
    world.advance(hours=1)
    world.advance(hours=4, minutes=30)
    start = world.clock.now() - timedelta(hours=5)
    done = world.executor.by_hand.backfill(
        schedule.id, start, world.clock.now(), actor="agent:test"
    )
    assert [item["fire_time"][11:13] for item in done] == ["14", "15", "16", "17"]
    assert {item["kind"] for item in done} == {"backfill"}
    assert world.executor.by_hand.backfill(schedule.id, start, world.clock.now(), actor="x") == []
    hour = world.clock.now().replace(minute=0) - timedelta(days=2)
    (one,) = world.executor.by_hand.backfill(schedule.id, hour, hour, actor="x")
    assert one["fire_time"] == format_time(hour), "both ends belong to it"
    with pytest.raises(AstraError, match="more than 100"):
        world.executor.by_hand.backfill(
            schedule.id, start - timedelta(days=9), world.clock.now(), actor="x"
        )


def test_run_now_goes_through_the_same_gate(world: Any) -> None:
    look, send = world.create("look", "@yearly"), world.create("send", "@yearly")
    assert world.executor.by_hand.run_now(look.id, actor="agent:test")["outcome"] == "succeeded"
    refused = world.executor.by_hand.run_now(send.id, actor="agent:test")
    assert (refused["outcome"], refused["reason"]) == ("skipped", "needs_approval")
    assert world.timetable.get(look.id).next_run == look.next_run


# Retries, cadence, dependencies


def test_a_failing_firing_is_tried_again_with_growing_pauses_and_then_given_up(world: Any) -> None:
    schedule = world.create("look", "@hourly", attempts=3, backoff_seconds=60)
    world.failing = True
    world.advance(hours=1)
    assert len(world.ran) == 1
    world.advance(seconds=59)
    assert len(world.ran) == 1
    world.advance(seconds=1)
    assert len(world.ran) == 2
    world.advance(seconds=119)
    assert len(world.ran) == 2
    world.advance(seconds=1)
    (item,) = world.history(schedule)
    assert (item["outcome"], item["reason"], item["attempt"]) == ("failed", "broken", 3)
    assert {"schedule_gave_up", "schedule_notice_raised"} <= set(types(world))
    world.advance(minutes=30)
    assert len(world.ran) == 3


def test_a_retry_that_succeeds_makes_the_firing_a_success(world: Any) -> None:
    schedule = world.create("look", "@hourly", attempts=3)
    world.failing = True
    world.advance(hours=1)
    world.failing = False
    world.advance(minutes=1)
    assert outcomes(world, schedule) == [("succeeded", "ok")]
    assert "schedule_gave_up" not in types(world)


def test_each_attempt_spends_the_budget(world: Any) -> None:
    schedule = world.create("write", "@hourly", attempts=10, backoff_seconds=1, per_day_budget=3)
    world.failing = True
    world.advance(hours=1)
    for _ in range(20):
        world.advance(seconds=30)
    assert len(world.ran) == 3
    assert outcomes(world, schedule) == [("skipped", "budget_spent")]


def test_jitter_spreads_firings_within_its_bound(world: Any) -> None:
    world.failing = True
    for number in range(20):
        world.create(
            "look", "@hourly", name=f"s{number}", attempts=2, backoff_seconds=60, jitter_seconds=60
        )
    world.advance(hours=1)
    due = [row[0] for row in world.ledger.query("SELECT due FROM firing ORDER BY due")]
    assert len(set(due)) > 15
    assert "2026-03-01T13:01:00" <= due[0] <= due[-1] <= "2026-03-01T13:02:00.1"


def test_a_paused_schedule_is_not_tried_again(world: Any) -> None:
    schedule = world.create("look", "@hourly", attempts=3)
    world.failing = True
    world.advance(hours=1)
    world.timetable.pause(schedule.id, actor="agent:test")
    world.advance(minutes=2)
    assert outcomes(world, schedule) == [("skipped", "paused")]


def test_an_unexpected_fault_of_a_tool_is_a_failure_and_nothing_more(world: Any) -> None:
    schedule = world.create("look")

    def crash() -> None:
        raise ZeroDivisionError

    world.meanwhile = crash
    minutes(world, 2)
    assert [item["detail"] for item in world.history(schedule)] == [
        "unexpected: ZeroDivisionError"
    ] * 2


def test_repeated_failure_slows_down_within_bounds_and_success_brings_it_back(world: Any) -> None:
    schedule = world.create("look", slow_after=2, slowest=4)
    world.failing = True
    minutes(world, 2)
    assert world.timetable.get(schedule.id).factor == 2
    assert world.timetable.get(schedule.id).next_run[14:16] == "04"
    shown = world.timetable.describe_schedule(world.timetable.get(schedule.id))["next_runs"]
    assert [run[14:16] for run in shown] == ["04", "06", "08", "10", "12"]
    minutes(world, 30)
    assert world.timetable.get(schedule.id).factor == 4
    world.failing = False
    minutes(world, 4)
    assert world.timetable.get(schedule.id).factor == 1
    ran = len(world.ran)
    minutes(world, 3)
    assert len(world.ran) == ran + 3
    adjusted = [
        (record.data["before"], record.data["factor"])
        for record in records.records(world.ledger, type_="schedule_cadence_adjusted")
    ]
    assert adjusted == [(1, 2), (2, 4), (4, 1)]


def test_a_poor_success_rate_slows_down_though_no_failures_follow_each_other(world: Any) -> None:
    schedule = world.create("look", slow_below=60, slowest=4)
    for number in range(7):
        world.failing = number % 2 == 0
        minutes(world, 1)
    assert world.timetable.get(schedule.id).factor > 1
    world.failing = False
    minutes(world, 4)
    assert world.timetable.get(schedule.id).factor > 1, "one success is not a better rate"
    minutes(world, 40)
    assert world.timetable.get(schedule.id).factor == 1
    adjusted = records.records(world.ledger, type_="schedule_cadence_adjusted")
    assert adjusted[0].data["reason"] == "2 of the last 5 firings succeeded"


def test_what_was_deleted_fires_no_more_and_what_waited_for_another_try_is_dropped(
    world: Any,
) -> None:
    schedule = world.create("look", attempts=3, backoff_seconds=90, slow_after=1, slowest=4)
    world.failing = True
    minutes(world, 1)
    assert world.history(schedule)[-1]["outcome"] == "retrying"
    world.timetable.delete(schedule.id, actor="agent:test")
    minutes(world, 10)
    (firing,) = world.history(schedule)
    assert (firing["outcome"], firing["reason"]) == ("skipped", "deleted")
    assert world.timetable.get(schedule.id).next_run is None


def test_without_asking_for_it_nothing_slows_down(world: Any) -> None:
    schedule = world.create("look")
    world.failing = True
    minutes(world, 20)
    assert world.timetable.get(schedule.id).factor == 1


def test_b_runs_after_a_succeeded_in_the_same_window(world: Any) -> None:
    first = world.create("look", "0 * * * *", name="a", payload={"text": "a"})
    second = world.create("look", "0 * * * *", name="b", payload={"text": "b"}, after=(first.id,))
    world.advance(hours=1)
    assert [text for _, text in world.ran] == ["a", "b"]
    assert outcomes(world, second) == [("succeeded", "ok")]


def test_b_is_skipped_where_a_failed_or_did_not_come(world: Any) -> None:
    first = world.create("look", "0 * * * *", name="a")
    second = world.create("look", "0 * * * *", name="b", after=(first.id,))
    world.failing = True
    world.advance(hours=1)
    world.failing = False
    assert outcomes(world, second) == [("skipped", "dependency")]
    world.timetable.pause(first.id, actor="agent:test")
    world.advance(hours=1)
    assert outcomes(world, second)[-1] == ("skipped", "dependency")
    assert world.history(second)[-1]["detail"].startswith(first.id)


def test_b_waits_for_the_retries_of_a_but_not_into_its_own_next_window(world: Any) -> None:
    first = world.create("look", "0 * * * *", name="a", attempts=2, backoff_seconds=600)
    second = world.create("look", "0 * * * *", name="b", after=(first.id,))
    world.failing = True
    world.advance(hours=1)
    assert outcomes(world, second) == [("waiting", "dependency")]
    world.failing = False
    world.advance(minutes=10)
    assert outcomes(world, second) == [("succeeded", "ok")]
    world.timetable.modify(first.id, {"backoff_seconds": 7200}, actor="agent:test")
    world.failing = True
    world.advance(minutes=50)
    world.failing = False
    world.advance(minutes=60)
    assert outcomes(world, second)[1] == ("skipped", "dependency")


def test_a_success_of_an_earlier_window_does_not_count(world: Any) -> None:
    first = world.create("look", "0 12 * * *", name="a")
    second = world.create("look", "0 * * * *", name="b", after=(first.id,))
    world.advance(days=1)
    world.advance(hours=1)
    assert outcomes(world, second)[-2:] == [("succeeded", "ok"), ("skipped", "dependency")]


def bad_schedule(world: Any, **fields: Any) -> str:
    """Record a schedule that no door would take, as a damaged or much older record might be."""
    given = {"name": "bad", "timezone": "UTC", "cron_expression": "* * * * *", **fields}
    definition = Definition(target_tool="look", **given)
    due = format_time(world.clock.now())
    identifier = f"sch_{definition.digest[:8]}"
    world.ledger.append([events.created(identifier, definition, due, actor="agent:test")])
    return identifier


@pytest.mark.parametrize(
    "fields",
    [
        {"cron_expression": "nonsense"},
        {"timezone": "Nowhere/Nothing"},
        {"cron_expression": "0 0 30 2 *"},
    ],
)
def test_a_schedule_that_cannot_be_planned_is_paused_and_the_others_run(
    world: Any, fields: dict[str, Any]
) -> None:
    bad = bad_schedule(world, **fields)
    good = world.create("look", name="good")
    world.advance(minutes=1)
    assert [item["outcome"] for item in world.history(good)] == ["succeeded"]
    assert world.timetable.get(bad).state == "paused"
    (notice,) = world.ledger.records(events.NOTICED)
    assert (notice.data["schedule"], notice.data["kind"]) == (bad, "cannot_be_planned")
    items, _ = world.timetable.list_schedules()
    assert {item["id"] for item in items} == {bad, good.id}
    world.advance(minutes=1)
    assert len(world.ledger.records(events.NOTICED)) == 1


def test_more_of_them_than_fit_into_a_batch_hold_nothing_up(world: Any) -> None:
    for number in range(BATCH + 10):
        bad_schedule(world, name=f"bad {number}", cron_expression="nonsense")
    good = world.create("look", name="good")
    world.advance(minutes=1)
    assert [item["outcome"] for item in world.history(good)] == ["succeeded"]
