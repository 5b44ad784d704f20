"""An agent puts work on a clock; a person reads in one command why each firing did or did not."""

import json
import shutil
from typing import Any

import pytest

from astra.schedules.model import Definition
from driver import Astra, let_it_be_overdue, past, stay_within_a_day

WRITE = "ASTRA_CODE_WRITE_ENABLED"


def create(astra: Astra, tool: str, *options: str, code: int = 0, cron: str = "@yearly") -> Any:
    words = ["--name", "test", "--cron", cron, "--tool", tool, *options]
    return astra.json("schedules", "create", *words, code=code)


def history(astra: Astra, identifier: str) -> list[tuple[str, str]]:
    items = astra.json("schedules", "history", identifier)["items"]
    return [(item["outcome"], item["reason"]) for item in items]


def test_creating_shows_the_next_five_firings_and_twice_is_once(shared: Astra) -> None:
    words = ("--timezone", "Europe/Berlin", "--payload", '{"path": "agent.py"}', "--tier", "0")
    made = create(shared, "read_source_code", *words, "--budget", "2", cron="30 2 * * *")
    assert made["created"] is True
    assert made["id"].startswith("sch_")
    assert len(made["next_runs"]) == 5
    assert all(run[-6:] in {"+01:00", "+02:00"} for run in made["next_runs"])
    again = create(shared, "read_source_code", *words, "--budget", "3", cron="30 2 * * *")
    assert (again["created"], again["id"], again["per_day_budget"]) == (False, made["id"], 2)
    shown = shared.json("schedules", "show", made["id"], "--from", "2026-03-28T12:00:00+01:00")
    assert shown["next_runs"][0] == "2026-03-29T03:00:00+02:00"


def test_the_whole_life_of_a_schedule(astra: Astra) -> None:
    identifier = create(astra, "astra.health")["id"]
    assert astra.json("schedules", "pause", identifier)["state"] == "paused"
    assert astra.json("schedules", "list", "--state", "paused")["items"][0]["id"] == identifier
    assert astra.json("schedules", "resume", identifier)["next_run"]
    changed = astra.json("schedules", "modify", identifier, "--cron", "0 0 29 2 *", "--name", "x")
    assert (changed["id"], changed["cron_expression"]) == (identifier, "0 0 29 2 *")
    ran = astra.json("schedules", "run", identifier)
    assert (ran["outcome"], ran["kind"]) == ("succeeded", "manual")
    assert history(astra, identifier) == [("succeeded", "ok")]
    story = astra.json("ledger", "story", ran["trace"])["items"]
    assert [record["type"] for record in story] == [
        "schedule_firing_claimed",
        "tool_called",
        "schedule_firing_closed",
    ]
    assert "succeeded" in astra.run("schedules", "history", identifier).stdout
    assert identifier in astra.run("schedules", "list").stdout
    assert identifier in astra.run("schedules", "show", identifier).stdout


@pytest.mark.parametrize(
    ("tool", "options", "code", "reason"),
    [
        ("write_file", ("--tier", "0"), 1, "tier_too_low"),
        ("deploy_agent_code", ("--tier", "1"), 1, "tier_too_low"),
        ("astra.flags.set", (), 1, "operator_only"),
        ("no_such_tool", (), 1, "unknown_tool"),
        ("astra.health", ("--payload", '{"tier": 0}'), 2, "bad_arguments"),
        ("astra.health", ("--payload", "nonsense"), 2, "bad_input"),
        ("astra.health", ("--timezone", "Mars/Base"), 2, "bad_timezone"),
        ("astra.health", ("--budget", "0"), 2, "bad_input"),
    ],
)
def test_lies_and_mistakes_are_refused(
    shared: Astra, tool: str, options: tuple[str, ...], code: int, reason: str
) -> None:
    assert create(shared, tool, *options, code=code)["code"] == reason


def test_a_bad_expression_names_the_field(shared: Astra) -> None:
    refused = create(shared, "astra.health", cron="0 25 * * *", code=2)
    assert (refused["code"], refused["field"]) == ("bad_cron", "hour")
    assert shared.json("schedules", "show", "sch_00000000", code=1)["code"] == "not_found"


def test_a_person_reads_in_one_command_why_each_firing_did_or_did_not_happen(astra: Astra) -> None:
    stay_within_a_day()
    payload = json.dumps({"path": "a.md", "content": "x"})
    made = create(astra, "write_file", "--payload", payload, "--budget", "1", cron="@daily")
    identifier = made["id"]
    stretch = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
    astra.run("schedules", "run", identifier, *stretch)
    refused = astra.run("schedules", "run", identifier)
    assert f"astra schedules modify {identifier} --budget N" in refused.stderr
    told = astra.run("schedules", "history", identifier).stdout.splitlines()
    assert [line.split()[2:5] for line in told] == [
        ["manual", "skipped", "budget_spent"],
        ["backfill", "skipped", "budget_spent"],
        ["backfill", "succeeded", "ok"],
    ]
    assert told[1].startswith("2026-03-02 00:00:00Z")
    assert "today's budget of 1" in told[1]
    status = astra.run("status").stdout
    assert "1 active, 0 paused, 0 open, next " in status
    assert f"schedule {identifier}: 1 of 1 today; the six days before: 0 0 0 0 0 0" in status
    nothing = astra.run("schedules", "run", identifier, *stretch[:3], stretch[1]).stdout
    assert nothing == "nothing to run: all of them succeeded before\n"


def test_what_makes_no_sense_is_refused_with_what_would(shared: Astra) -> None:
    identifier = create(shared, "astra.health")["id"]
    assert "nothing to change" in shared.json("schedules", "modify", identifier, code=2)["detail"]
    for time in ("yesterday", "2026-03-01T00:00:00", "0001-01-01T00:00:00Z"):
        refused = shared.json("schedules", "show", identifier, "--from", time, code=2)
        assert refused["code"] == "bad_input"


def test_a_tier_1_schedule_spends_its_own_budget(astra: Astra) -> None:
    stay_within_a_day()
    payload = json.dumps({"path": "a.md", "content": "x"})
    identifier = create(astra, "write_file", "--payload", payload, "--budget", "2")["id"]
    for _ in range(2):
        astra.json("schedules", "run", identifier)
    refused = astra.json("schedules", "run", identifier, code=1)
    assert refused["code"] == "budget_spent"
    astra.run("down")
    assert astra.json("schedules", "run", identifier, code=1)["code"] == "budget_spent"


def test_a_hidden_tool_is_kept_and_its_firings_are_skipped(astra: Astra) -> None:
    payload = json.dumps({"goal": "goal_00000000"})
    identifier = create(astra, "execute_goal", "--payload", payload)["id"]
    assert astra.json("schedules", "run", identifier, code=1)["code"] == "flag_off"
    assert history(astra, identifier) == [("skipped", "flag_off")]
    astra.json("flags", "set", WRITE, "on")
    assert astra.json("schedules", "run", identifier, code=1)["code"] == "not_found"


def test_with_the_scheduler_off_nothing_runs(astra: Astra) -> None:
    identifier = create(astra, "astra.health")["id"]
    astra.json("flags", "set", "ASTRA_SCHEDULER_ENABLED", "off")
    assert astra.json("schedules", "run", identifier, code=1)["code"] == "flag_off"
    assert astra.json("status")["executor"]["closed"] == "flag_off"


def test_a_tier_2_firing_waits_for_an_operators_signed_word(astra: Astra) -> None:
    """Tier 2 by declaration: a harmless tool that is held to the strictest rule."""
    identifier = create(astra, "astra.health", "--tier", "2")["id"]
    waiting = astra.json("schedules", "run", identifier, code=3)
    assert waiting["code"] == "needs_approval"
    (listed,) = astra.json("approvals")["items"]
    assert (listed["id"], listed["kind"]) == (waiting["approval_id"], "schedule")
    approved = astra.json("approve", identifier)
    assert (approved["subject_id"], approved["state"]) == (identifier, "approved")
    token = astra.root / "var" / "approvals" / "pending" / f"{identifier}.token"
    kept = token.read_text()
    assert token.stat().st_mode & 0o077 == 0
    assert astra.json("schedules", "run", identifier)["outcome"] == "succeeded"
    assert not token.exists()
    log = (astra.root / "var" / "approvals" / "approved.ndjson").read_text()
    assert json.loads(log)["approval"] == approved["id"]
    token.write_text(kept)
    assert astra.json("schedules", "run", identifier, code=3)["code"] == "needs_approval"
    assert astra.json("reject", identifier, "--reason", "no")["state"] == "rejected"
    assert history(astra, identifier) == [
        ("skipped", "needs_approval"),
        ("succeeded", "ok"),
        ("skipped", "needs_approval"),
    ]
    assert astra.json("ledger", "rebuild", "--check")["same"] is True


def test_an_approved_token_survives_kill_9_and_works_once(astra: Astra) -> None:
    identifier = create(astra, "astra.health", "--tier", "2")["id"]
    astra.json("approve", identifier)
    astra.kill_daemon()
    assert astra.json("schedules", "run", identifier)["outcome"] == "succeeded"
    assert astra.json("schedules", "run", identifier, code=3)["code"] == "needs_approval"


def test_the_daemon_fires_what_is_due_and_stays_for_it(astra: Astra) -> None:
    """The schedule is overdue for ten minutes, so that nobody has to wait for its time."""
    astra.extra["ASTRA_DAEMON_IDLE_MINUTES"] = "0.01"
    astra.run("down")
    with past(astra) as runtime:
        schedule, _ = runtime.timetable.create(
            Definition(
                name="t", cron_expression="* * * * *", timezone="UTC", target_tool="astra.health"
            ),
            actor="agent:test",
        )
        let_it_be_overdue(runtime, schedule, minutes=10)
    astra.follow("schedule_firing_closed")
    pid = astra.daemon_pid()
    items = astra.json("schedules", "history", schedule.id)["items"]
    caught, missed = items[-2:]
    assert (caught["outcome"], caught["kind"]) == ("succeeded", "catch_up")
    assert (missed["outcome"], missed["reason"]) == ("missed", "downtime")
    assert missed["count"] >= 8
    executor = astra.json("status")["executor"]
    assert (executor["active"], executor["trouble"]) == (1, "")
    assert astra.daemon_pid() == pid, "it stays although nobody came for its idle time"


def test_a_slow_firing_is_a_job_that_survives_kill_9_as_interrupted(astra: Astra) -> None:
    """Also when somebody deletes the engine's database: the ledger knows what there was."""
    astra.run("down")
    with past(astra) as runtime:
        schedule, _ = runtime.timetable.create(
            Definition(
                name="long",
                cron_expression=f"{(runtime.clock.now().minute - 10) % 60} * * * *",
                timezone="UTC",
                target_tool="run_in_sandbox",
                payload={"command": ["sleep", "60"]},
                safety_tier=1,
            ),
            actor="agent:test",
        )
        let_it_be_overdue(runtime, schedule, minutes=10)
    astra.follow("tool_started")
    astra.kill_daemon()
    shutil.rmtree(astra.root / "var" / "jobs")
    astra.follow("schedule_firing_closed")
    assert ("interrupted", "interrupted") in history(astra, schedule.id)


def test_agents_use_the_same_through_tools(astra: Astra) -> None:
    def call(tool: str, code: int = 0, **arguments: Any) -> Any:
        return astra.json("tools", "call", tool, json.dumps(arguments), code=code)

    made = call(
        "astra_schedule_create", name="t", cron_expression="@daily", target_tool="astra_health"
    )
    assert (made["target_tool"], made["safety_tier"]) == ("astra.health", 0)
    assert call("astra.schedule.list", text="t")["items"][0]["id"] == made["id"]
    call("astra.schedule.pause", id=made["id"])
    call("astra.schedule.resume", id=made["id"])
    call("astra.schedule.modify", id=made["id"], per_day_budget=5)
    ran = astra.json("schedules", "run", made["id"])
    assert call("astra.schedule.history", id=made["id"])["items"][0]["outcome"] == "succeeded"
    assert call("tasks_list", outcome="succeeded")["items"][0]["id"] == ran["id"]
    assert call("tasks_by_trace", trace=ran["trace"])["items"][0]["id"] == ran["id"]
    assert call("tasks_last_failed")["items"] == []


def test_a_deleted_schedule_is_gone_from_every_list_and_kept_in_the_chain(astra: Astra) -> None:
    words = ("--name", "watch", "--cron", "@daily", "--tool", "astra.health")
    schedule = astra.json("schedules", "create", *words, "--slow-below", "50")["id"]
    assert astra.json("schedules", "run", schedule)["outcome"] == "succeeded"
    assert astra.json("schedules", "delete", schedule)["state"] == "deleted"
    assert astra.json("schedules", "list")["items"] == []
    (item,) = astra.json("schedules", "list", "--state", "deleted")["items"]
    assert (item["id"], item["slow_below"]) == (schedule, 50)
    assert len(astra.json("schedules", "history", schedule)["items"]) == 1
    assert astra.json("schedules", "run", schedule, code=1)["code"] == "schedule_deleted"
    answer = astra.json("tools", "call", "astra_schedule_delete", f'{{"id": "{schedule}"}}')
    assert answer["state"] == "deleted"
    story = [record["type"] for record in astra.json("ledger", "story", schedule)["items"]]
    assert story.count("schedule_deleted") == 1
    assert astra.json("schedules", "create", *words)["id"] != schedule
