"""A clock that was a year ahead for a moment, and the way out that the operator signs."""

import json
from datetime import UTC, datetime, timedelta

from astra.trusted.kernel.clock import parse_time
from astra.trusted.ledger.record import Event
from driver import Astra, past

SCHEDULE = {
    "name": "look",
    "cron_expression": "@hourly",
    "timezone": "UTC",
    "target_tool": "astra.health",
    "payload": {},
    "safety_tier": 0,
}


def be_a_year_ahead(astra: Astra) -> None:
    astra.json("down")
    with past(astra, days=-365, hours=-1) as runtime:
        runtime.ledger.append(
            [Event(type="app_restarted", actor="daemon", data={"release": "rel"})]
        )
        runtime.executor.run_due()


def test_the_operator_accepts_the_clock_and_everything_goes_on(astra: Astra) -> None:
    created = astra.json("tools", "call", "astra.schedule.create", json.dumps(SCHEDULE))
    be_a_year_ahead(astra)

    assert "astra clock accept" in astra.run("status").stdout
    assert "365 days ahead of the clock" in astra.json("status")["ledger"]["clock"]
    broken = [each for each in astra.json("doctor", code=1)["items"] if each["name"] == "clock"]
    assert [each["fix"] for each in broken] == ["set the clock; if it is right: astra clock accept"]
    assert "from record" in astra.run("clock").stdout

    done = astra.json("clock", "accept")
    assert done["accepted"]
    assert done["ahead"] == ""
    now = datetime.now(UTC)
    assert abs(parse_time(done["ledger"]) - now) < timedelta(minutes=5)
    assert astra.json("status")["ledger"]["clock"] == ""
    assert astra.run("ledger", "verify").returncode == 0
    (record,) = astra.json("ledger", "tail", "--type", "clock_accepted")["items"]
    assert record["sequence"] == done["sequence"]

    astra.follow("schedule_cadence_adjusted")
    (schedule,) = astra.json("schedules", "list")["items"]
    assert schedule["id"] == created["id"]
    assert parse_time(schedule["next_run"]) - now <= timedelta(hours=1, minutes=5)


def test_after_a_restart_time_is_still_the_accepted_one(astra: Astra) -> None:
    be_a_year_ahead(astra)
    astra.json("clock", "accept")
    astra.json("down")
    astra.json("flags", "set", "ASTRA_SCHEDULER_ENABLED", "off")
    (record,) = astra.json("ledger", "tail", "--type", "flag_set")["items"]
    assert parse_time(record["time"]) - datetime.now(UTC) < timedelta(minutes=5)
    assert astra.json("ledger", "rebuild", "--check")["differences"] == []
    assert astra.run("ledger", "verify").returncode == 0


def test_there_is_nothing_to_accept_while_the_clock_is_right(astra: Astra) -> None:
    assert astra.json("clock", "accept")["accepted"] is False
    assert "the two agree" in astra.run("clock").stdout
