"""Tier 2 on a clock: one signed word, one run. A file somebody made, edited or kept is none."""

import json
from typing import Any

import pytest

from astra.schedules import planning
from astra.schedules.model import Kind, Schedule
from astra.trusted.approvals.desk import content
from astra.trusted.kernel.errors import AstraError, Conflict, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views as records
from astra.trusted.ledger.record import Event
from astra.trusted.policy.call import Footprint


@pytest.fixture
def schedule(world: Any) -> Schedule:
    return world.create("send", "0 * * * *", payload={"text": "letter"})


def approve(world: Any, schedule: Schedule) -> str:
    approval = world.executor.by_hand.request_approval(schedule.id, actor="agent:test")
    world.gate.approve(approval)
    return approval


def last(world: Any, schedule: Schedule) -> tuple[str, str]:
    item = world.history(schedule)[-1]
    return item["outcome"], item["reason"]


def types(world: Any) -> list[str]:
    return [record.type for record in records.records(world.ledger, limit=10_000)]


def test_without_a_token_it_is_skipped_logged_and_people_are_told(
    world: Any, schedule: Schedule
) -> None:
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []
    assert "schedule_notice_raised" in types(world)
    (waiting,) = world.gate.desk.list_by_state()
    assert (waiting.kind, waiting.subject_id) == ("schedule", schedule.id)
    world.advance(hours=1)
    assert len(world.gate.desk.list_by_state()) == 1, "the same request is meant"


def test_an_approved_firing_runs_once_and_the_token_is_used_up(
    world: Any, schedule: Schedule
) -> None:
    approval = approve(world, schedule)
    token = json.loads(world.gate.tokens.files[schedule.id])
    assert token["approval"] == approval
    assert token["authority"]["signature"]
    world.advance(hours=1)
    assert last(world, schedule) == ("succeeded", "ok")
    assert world.gate.tokens.files == {}
    (line,) = world.gate.tokens.lines
    assert json.loads(line)["approval"] == approval
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == [("send", "letter")]


def test_the_token_is_gone_before_the_effect(world: Any, schedule: Schedule) -> None:
    seen: list[tuple[dict[str, str], str]] = []

    def look() -> None:
        used = [each for each in world.gate.desk.list_by_state(state="all") if each.state == "used"]
        seen.append((dict(world.gate.tokens.files), used[0].state))

    world.meanwhile = look
    approve(world, schedule)
    world.advance(hours=1)
    assert seen == [({}, "used")]


def test_an_approval_lasts_until_the_next_firing_however_far_that_is(world: Any) -> None:
    schedule = world.create("send", "@monthly")
    approve(world, schedule)
    world.advance(days=31, minutes=-719)
    assert last(world, schedule) == ("succeeded", "ok")


def test_a_forged_token_runs_nothing_and_is_reported(world: Any, schedule: Schedule) -> None:
    firing = planning.make_firing(schedule, world.clock.now(), Kind.CRON, accepted=0)
    digest = world.executor.admission.door.understand(schedule, firing).digest()
    forged = {
        "schedule": schedule.id,
        "approval": "apr_00000000",
        "digest": digest,
        "expires_at": "2030-01-01T00:00:00.000000Z",
        "authority": {"statement": {}, "signature": "00", "key": KeyPair.generate().public},
    }
    world.gate.tokens.files[schedule.id] = json.dumps(forged)
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []
    assert "approval_token_refused" in types(world)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"approval": 7}', "\x00" * 1000])
def test_garbage_in_its_place_runs_nothing(world: Any, schedule: Schedule, text: str) -> None:
    world.gate.tokens.files[schedule.id] = text
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []


def test_an_edited_token_runs_nothing_even_beside_a_good_approval(
    world: Any, schedule: Schedule
) -> None:
    approve(world, schedule)
    token = json.loads(world.gate.tokens.files[schedule.id])
    token["expires_at"] = "2030-01-01T00:00:00.000000Z"
    world.gate.tokens.files[schedule.id] = json.dumps(token)
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert "approval_token_refused" in types(world)


def test_an_expired_token_runs_nothing(world: Any, schedule: Schedule) -> None:
    approve(world, schedule)
    kept = dict(world.gate.tokens.files)
    world.timetable.pause(schedule.id, actor="agent:test")
    world.clock.advance(days=3)
    world.timetable.resume(schedule.id, actor="agent:test")
    world.gate.tokens.files = kept
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []


def test_a_replayed_token_runs_nothing(world: Any, schedule: Schedule) -> None:
    approve(world, schedule)
    kept = dict(world.gate.tokens.files)
    world.advance(hours=1)
    world.gate.tokens.files = kept
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert len(world.ran) == 1


def test_the_token_of_one_schedule_does_not_fit_another(world: Any, schedule: Schedule) -> None:
    other = world.create("send", "0 * * * *", name="other", payload={"text": "letter"})
    approve(world, schedule)
    world.gate.tokens.files[other.id] = world.gate.tokens.files.pop(schedule.id)
    world.advance(hours=1)
    assert last(world, other) == ("skipped", "needs_approval")
    assert last(world, schedule) == ("skipped", "needs_approval"), "its token was taken away"
    assert world.ran == []


def test_a_direct_call_cannot_use_what_was_approved_for_the_clock(
    world: Any, schedule: Schedule
) -> None:
    approve(world, schedule)
    with pytest.raises(AstraError) as refused:
        world.call("send", text="letter")
    assert refused.value.reason == "needs_approval"
    assert world.ran == []


def test_taking_the_token_away_stops_the_firing(world: Any, schedule: Schedule) -> None:
    approve(world, schedule)
    world.gate.tokens.files.clear()
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    approve(world, schedule)
    world.advance(hours=1)
    assert last(world, schedule) == ("succeeded", "ok")
    assert len(world.ran) == 1


def test_an_approval_is_void_once_the_schedule_would_run_something_else(
    world: Any, schedule: Schedule
) -> None:
    approval = approve(world, schedule)
    world.timetable.modify(schedule.id, {"payload": {"text": "bomb"}}, actor="agent:test")
    assert world.gate.desk.get(approval).state == "stale"
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []


def test_a_file_the_action_names_joins_what_was_approved(world: Any) -> None:
    script = ["echo hello"]

    def footprint(_arguments: Any, _services: Any) -> Footprint:
        return Footprint(files=(f"script.sh sha256:{hash(script[0])}",))

    tool = world.tool("run_script", world.counter.registry.find("send").tier, footprint=footprint)
    world.counter.registry._names["run_script"] = tool
    schedule = world.create("run_script", "0 * * * *")
    approve(world, schedule)
    script[0] = "rm -rf everything"
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []


def test_nobody_but_the_operator_makes_a_token(world: Any, schedule: Schedule) -> None:
    approval = world.executor.by_hand.request_approval(schedule.id, actor="agent:test")
    with pytest.raises(SignatureRejected):
        world.gate.approve(approval, KeyPair.generate())
    forged = Event(
        type="approval_granted",
        actor="operator",
        data=content(world.gate.desk.get(approval)),
        subject=approval,
    )
    world.ledger.append([forged])
    world.gate.shelf.export(approval)
    world.advance(hours=1)
    assert last(world, schedule) == ("skipped", "needs_approval")
    assert world.ran == []


def test_what_needs_no_approval_cannot_be_approved(world: Any) -> None:
    schedule = world.create("look")
    with pytest.raises(Conflict, match="needs no approval"):
        world.executor.by_hand.request_approval(schedule.id, actor="agent:test")


def test_a_crash_between_use_and_file_is_settled(world: Any, schedule: Schedule) -> None:
    approve(world, schedule)
    kept = dict(world.gate.tokens.files)
    world.advance(hours=1)
    world.gate.tokens.files, world.gate.tokens.lines = kept, []
    world.gate.shelf.settle()
    assert world.gate.tokens.files == {}
    assert len(world.gate.tokens.lines) == 1
    world.gate.shelf.settle()
    assert len(world.gate.tokens.lines) == 1
