"""Schedules are named by their content, refused where they lie, and changed without a new name."""

import hashlib
from typing import Any

import pytest

from astra.schedules.model import Definition
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, NotFound, Refused
from astra.trusted.ledger import views as records
from astra.trusted.ledger.record import Event


def definition(**fields: Any) -> Definition:
    given = {
        "name": "morning",
        "cron_expression": "0 9 * * *",
        "timezone": "Europe/Berlin",
        "target_tool": "look",
        "payload": {"text": "hi"},
        **fields,
    }
    return Definition(**given)


def test_the_id_is_eight_digits_of_the_contents_hash(world: Any) -> None:
    schedule, created = world.timetable.create(definition(), actor="agent:test")
    identity = {
        "name": "morning",
        "cron_expression": "0 9 * * *",
        "timezone": "Europe/Berlin",
        "target_tool": "look",
        "payload": {"text": "hi"},
    }
    digest = hashlib.sha256(canonical.encode(identity)).hexdigest()
    assert created
    assert schedule.id == f"sch_{digest[:8]}"


def test_the_same_content_again_changes_nothing_and_gives_the_one_that_is_there(world: Any) -> None:
    first, _ = world.timetable.create(definition(), actor="agent:test")
    before = world.ledger.head()
    again, created = world.timetable.create(
        definition(safety_tier=1, per_day_budget=9), actor="agent:other"
    )
    assert (again, created) == (first, False)
    assert world.ledger.head() == before


def test_another_content_with_the_same_eight_digits_gets_a_longer_name(world: Any) -> None:
    digest = definition().digest
    other = Event(type="thing_happened", actor="agent:test", subject=f"sch_{digest[:8]}")
    world.ledger.append([other])
    schedule, created = world.timetable.create(definition(), actor="agent:test")
    assert created
    assert schedule.id == f"sch_{digest[:12]}"
    assert world.timetable.create(definition(), actor="agent:test") == (schedule, False)


def test_modify_keeps_the_id_and_moves_the_next_run(world: Any) -> None:
    schedule = world.create("look", "0 9 * * *", timezone="Europe/Berlin")
    changed = world.timetable.modify(
        schedule.id, {"cron_expression": "30 18 * * *", "name": "evening"}, actor="agent:test"
    )
    assert changed.id == schedule.id
    assert changed.modified
    assert changed.next_run == "2026-03-01T17:30:00.000000Z"
    assert world.timetable.describe_schedule(changed)["name"] == "evening"


def test_pause_and_resume(world: Any) -> None:
    schedule = world.create("look")
    assert world.timetable.pause(schedule.id, actor="agent:test").next_run is None
    world.advance(hours=3)
    assert world.history(schedule) == []
    resumed = world.timetable.resume(schedule.id, actor="agent:test")
    assert resumed.next_run == "2026-03-01T15:01:00.000000Z"
    types = [record.type for record in records.story(world.ledger, schedule.id)]
    assert types[-2:] == ["schedule_paused", "schedule_resumed"]


def test_the_next_five_firings_are_shown_with_their_offset(world: Any) -> None:
    schedule = world.create("look", "0 2 * * *", timezone="Europe/Berlin")
    world.clock.advance(days=26, hours=12)
    shown = world.timetable.describe_schedule(schedule)["next_runs"]
    assert shown == [
        "2026-03-28T02:00:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:00:00+02:00",
        "2026-03-31T02:00:00+02:00",
        "2026-04-01T02:00:00+02:00",
    ]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"target_tool": "write", "safety_tier": 0}, "tier_too_low", "safety_tier"),
        ({"target_tool": "send", "safety_tier": 1}, "tier_too_low", "safety_tier"),
        ({"target_tool": "deploy", "safety_tier": 0}, "tier_too_low", "safety_tier"),
        ({"target_tool": "theirs", "safety_tier": 1}, "operator_only", None),
        ({"target_tool": "nowhere"}, "unknown_tool", None),
        ({"payload": {"nonsense": 1}}, "bad_arguments", None),
        ({"cron_expression": "* 25 * * *"}, "bad_cron", "hour"),
        ({"timezone": "Mars/Base"}, "bad_timezone", "timezone"),
        ({"per_day_budget": 0}, "bad_input", "per_day_budget"),
        ({"per_day_budget": 100_000}, "bad_input", "per_day_budget"),
        ({"safety_tier": 3}, "bad_input", "safety_tier"),
        ({"attempts": 0}, "bad_input", "attempts"),
        ({"overlap": "pile-up"}, "bad_input", "overlap"),
        ({"name": "  "}, "bad_input", "name"),
    ],
)
def test_a_lie_or_a_mistake_is_refused_and_nothing_is_kept(
    world: Any, fields: dict[str, Any], code: str, field: str | None
) -> None:
    before = world.ledger.head()
    with pytest.raises(AstraError) as refused:
        world.timetable.create(definition(**fields), actor="agent:test")
    assert refused.value.reason == code
    assert refused.value.facts.get("field") == field
    assert refused.value.next_step
    assert world.ledger.head() == before


def test_a_schedule_cannot_be_modified_into_a_lie_either(world: Any) -> None:
    schedule = world.create("look")
    with pytest.raises(Refused, match="tier 2"):
        world.timetable.modify(schedule.id, {"target_tool": "send"}, actor="agent:test")


def test_a_tool_that_a_flag_hides_can_be_scheduled(world: Any) -> None:
    assert world.create("deploy", safety_tier=2).state == "active"


def test_lists_filter_by_state_tier_tool_and_text_and_come_in_pages(world: Any) -> None:
    look = world.create("look", name="Watch the garden")
    write = world.create("write", name="note", payload={"text": "water"})
    world.timetable.pause(write.id, actor="agent:test")

    def found(**filters: Any) -> set[str]:
        items, _ = world.timetable.list_schedules(**filters)
        return {item["id"] for item in items}

    assert found() == {look.id, write.id}
    assert found(state="paused") == {write.id}
    assert found(tier=0) == {look.id}
    assert found(tool="write") == {write.id}
    assert found(text="GARDEN") == {look.id}
    assert found(text="water") == {write.id}
    assert found(text="backoff_seconds") == found(text=look.next_run or "") == set()
    first, cursor = world.timetable.list_schedules(limit=1)
    second, end = world.timetable.list_schedules(limit=1, after=cursor)
    assert {first[0]["id"], second[0]["id"]} == {look.id, write.id}
    assert end is None


def test_a_schedule_never_waits_for_itself(world: Any) -> None:
    first = world.create("look", name="a")
    second = world.create("look", name="b", after=(first.id,))
    third = world.create("look", name="c", after=(second.id,))
    for after in ([third.id], [first.id], [second.id, third.id]):
        with pytest.raises(BadInput, match="wait for itself"):
            world.timetable.modify(first.id, {"after": after}, actor="agent:test")
    with pytest.raises(NotFound):
        world.create("look", name="d", after=("sch_00000000",))


def test_an_unknown_schedule_is_not_found(world: Any) -> None:
    with pytest.raises(NotFound):
        world.timetable.pause("sch_00000000", actor="agent:test")
    with pytest.raises(NotFound):
        world.timetable.history(schedule_id="sch_00000000")


def test_a_deleted_schedule_leaves_the_list_and_keeps_its_history(world: Any) -> None:
    schedule, _ = world.timetable.create(definition(), actor="agent:test")
    gone = world.timetable.delete(schedule.id, actor="agent:test")
    assert (gone.state, gone.next_run) == ("deleted", None)
    assert world.timetable.list_schedules() == ([], None)
    (item,), _ = world.timetable.list_schedules(state="deleted")
    assert item["id"] == schedule.id
    assert world.timetable.history(schedule_id=schedule.id) == ([], None)
    before = world.ledger.head()
    assert world.timetable.delete(schedule.id, actor="agent:test") == gone
    assert world.ledger.head() == before
    story = records.story(world.ledger, schedule.id)
    assert [record.type for record in story] == ["schedule_created", "schedule_deleted"]


@pytest.mark.parametrize("verb", ["modify", "pause", "resume"])
def test_a_deleted_schedule_takes_no_other_verb(world: Any, verb: str) -> None:
    schedule, _ = world.timetable.create(definition(), actor="agent:test")
    world.timetable.delete(schedule.id, actor="agent:test")
    arguments = ({"name": "again"},) if verb == "modify" else ()
    with pytest.raises(Conflict) as refusal:
        getattr(world.timetable, verb)(schedule.id, *arguments, actor="agent:test")
    assert refusal.value.reason == "schedule_deleted"
    with pytest.raises(Conflict):
        world.executor.by_hand.run_now(schedule.id, actor="agent:test")


def test_what_was_deleted_can_be_made_anew_again_and_again(world: Any) -> None:
    names: list[str] = []
    for _ in range(3):
        schedule, created = world.timetable.create(definition(), actor="agent:test")
        assert created
        assert world.timetable.create(definition(), actor="agent:test") == (schedule, False)
        names.append(schedule.id)
        world.timetable.delete(schedule.id, actor="agent:test")
    assert len(set(names)) == 3


def test_what_others_come_after_is_not_deleted_before_them(world: Any) -> None:
    first, _ = world.timetable.create(definition(), actor="agent:test")
    behind, _ = world.timetable.create(
        definition(name="behind", after=(first.id,)), actor="agent:test"
    )
    with pytest.raises(Conflict) as refusal:
        world.timetable.delete(first.id, actor="agent:test")
    assert refusal.value.reason == "schedule_needed"
    world.timetable.delete(behind.id, actor="agent:test")
    assert world.timetable.delete(first.id, actor="agent:test").deleted
    with pytest.raises(Conflict):
        world.timetable.create(definition(name="late", after=(first.id,)), actor="agent:test")
