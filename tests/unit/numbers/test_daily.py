"""Days are counted as they are recorded, whole and in UTC; every number has its records."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest

from astra.numbers import budget_usage, daily
from astra.testing import MemoryLedger, SetClock
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.ledger.projection import CORE
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.verbs import LedgerVerbs
from astra.trusted.policy import budgets
from astra.trusted.policy.budgets import Scope

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Root:
    """A ledger with nothing but days and budgets, so that a record needs only what these read."""

    def __init__(self) -> None:
        self.clock = SetClock(FIRST)
        own = (budgets.PROJECTION, daily.COUNTS, daily.RECORDS)
        self.ledger = MemoryLedger(projections=(*CORE, *own), clock=self.clock)
        self.ledger.append([Event(type="data_root_created", actor="operator")])


def test_new_tests_that_fail_on_the_old_code_are_no_failure() -> None:
    """A change with good new tests is not something that went wrong."""
    root = Root()
    for label in ("change", "new tests, base code"):
        data = {"label": label, "report": {"verdict": "failed"}}
        root.ledger.append([Event(type="tests_failed", actor="daemon", data=data)])
    counts = {item["name"]: item["total"] for item in daily.series(root.ledger, ("2026-03-01",))}
    assert counts["test_runs_failed"] == 1


class Planned(LedgerVerbs):
    """The same ledger; keeps how each question would be answered."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.append, self.head, self.wait = ledger.append, ledger.head, ledger.wait
        self.wake, self.close = ledger.wake, ledger.close
        self._ask, self._position = ledger.query, ledger.position
        self.steps: list[str] = []

    def position(self) -> int:
        return self._position()

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        planned = self._ask(f"EXPLAIN QUERY PLAN {sql}", parameters)
        self.steps += [f"{row[-1]}: {sql}" for row in planned]
        return self._ask(sql, parameters)


@pytest.fixture
def root() -> Root:
    return Root()


def happened(root: Root, kind: str, **data: Any) -> int:
    (record,) = root.ledger.append([Event(type=kind, actor="agent:test", data=data)])
    return record.sequence


def spent(root: Root, kind: str, name: str, limit: int) -> None:
    scope = Scope(kind, name, limit, root.clock.now())
    data = {"scope": kind, "name": name, "day": scope.day, "limit": limit}
    event = Event(type="budget_spent", actor="agent:test", data=data, subject=scope.id)
    root.ledger.append([event])


def counted(root: Root, days: int = 3) -> dict[str, list[int]]:
    window = daily.window(days, now=root.clock.now())
    return {row["name"]: row["values"] for row in daily.series(root.ledger, window)}


def records(root: Root, measure: str, **asked: Any) -> list[int]:
    asked = {"since": date(2026, 3, 1), "until": date(2026, 3, 31), "limit": 100, **asked}
    return [record.sequence for record in daily.evidence(root.ledger, measure, **asked)]


def test_every_measure_has_every_day_and_a_day_without_any_counts_zero(root: Root) -> None:
    happened(root, "code_modification_scheduled", about={})
    root.clock.advance(days=2)
    happened(root, "code_modification_scheduled", about={})
    happened(root, "code_modification_executed")
    found = counted(root)
    assert set(found) == set(daily.MEASURES)
    assert found["changes_proposed"] == [1, 0, 1]
    assert found["changes_merged"] == [0, 0, 1]
    assert all(values == [0, 0, 0] for name, values in found.items() if "changes" not in name)


def test_a_day_ends_at_midnight_in_utc(root: Root) -> None:
    root.clock.set(datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC))
    happened(root, "tests_failed", label="x")
    root.clock.advance(microseconds=1)
    happened(root, "tests_failed", label="y")
    assert counted(root, 2)["test_runs_failed"] == [1, 1]
    assert counted(root, 1)["test_runs_failed"] == [1]


def test_calls_are_told_apart_by_how_they_ended_and_open_ones_are_not_counted(
    root: Root,
) -> None:
    ok = happened(root, "tool_called", tool="a", outcome={"ok": True})
    bad = happened(root, "tool_called", tool="a", outcome={"ok": False, "code": "x"})
    root.ledger.append(
        [Event(type="tool_started", actor="a", subject="cal_0000000000000001", data={"tool": "a"})]
    )
    cut = happened(root, "tool_interrupted", tool="a", outcome={"ok": False})
    no = happened(root, "tool_refused", tool="a", arguments={"outcome": {"ok": True}})
    assert records(root, "calls_ok") == [ok]
    assert records(root, "calls_failed") == [cut, bad]
    assert records(root, "calls_refused") == [no]


def test_a_plan_that_is_rejected_at_the_desk_counts_once(root: Root) -> None:
    at_the_desk = happened(root, "approval_rejected", approval="apr_1", reason="no")
    happened(root, "agent_plan_rejected", plan="pln_1", reason="no", approval="apr_1")
    on_its_page = happened(root, "agent_plan_rejected", plan="pln_2", reason="no")
    assert records(root, "rejected") == [on_its_page, at_the_desk]
    assert counted(root)["rejected"][-1] == 2


def test_a_start_that_spends_in_three_scopes_is_one_start(root: Root) -> None:
    for kind, name in (("schedule", "sch_1"), ("tool", "write_file"), ("actor", "agent")):
        spent(root, kind, name, 10)
    assert counted(root)["starts"] == [0, 0, 1]


def test_evidence_is_cut_to_its_days_and_comes_in_pages(root: Root) -> None:
    made: list[int] = []
    for _ in range(3):
        made += [happened(root, "tests_failed", label=str(number)) for number in range(2)]
        root.clock.advance(days=1)
    newest = made[::-1]
    assert records(root, "test_runs_failed") == newest
    second = {"since": date(2026, 3, 2), "until": date(2026, 3, 2)}
    assert records(root, "test_runs_failed", **second) == newest[2:4]
    assert records(root, "test_runs_failed", limit=3) == newest[:3]
    assert records(root, "test_runs_failed", limit=3, before=newest[2]) == newest[3:]


def test_what_is_not_counted_and_days_that_run_backwards_are_refused(root: Root) -> None:
    with pytest.raises(NotFound):
        records(root, "tool_called")
    with pytest.raises(BadInput):
        records(root, "starts", since=date(2026, 3, 2), until=date(2026, 3, 1))


def test_the_first_day_is_the_day_of_the_first_record(root: Root) -> None:
    root.clock.advance(days=40)
    happened(root, "tests_failed", label="x")
    assert daily.find_first_day(root.ledger) == "2026-03-01"


def test_budgets_come_fullest_first_with_every_day_and_whose_story_tells_it(
    root: Root,
) -> None:
    for _ in range(3):
        spent(root, "actor", "agent", 2_000)
    root.clock.advance(days=2)
    for _ in range(2):
        spent(root, "schedule", "sch_1", 4)
    days = daily.window(3, now=root.clock.now())
    (fullest, pool), others = budget_usage.list_fullest_budgets(root.ledger, days, most=2)
    assert others == 0
    assert (fullest["name"], fullest["limit"], fullest["used"]) == ("sch_1", 4, [0, 0, 2])
    assert (pool["name"], pool["used"]) == ("agent", [3, 0, 0])
    assert pool["ids"] == [Scope("actor", "agent", 2_000, FIRST).id, None, None]
    (only,), others = budget_usage.list_fullest_budgets(root.ledger, days, most=1)
    assert (only["name"], others) == ("sch_1", 1)
    assert budget_usage.list_fullest_budgets(root.ledger, ("2026-02-01",), most=2) == ([], 0)


def test_no_question_reads_every_record(root: Root) -> None:
    spent(root, "actor", "agent", 2_000)
    planned = Planned(root.ledger)
    days = daily.window(90, now=root.clock.now())
    daily.series(planned, days)
    budget_usage.list_fullest_budgets(planned, days, most=10)
    for measure in daily.MEASURES:
        asked = {"since": date(2026, 1, 1), "until": date(2026, 3, 31), "limit": 10}
        daily.evidence(planned, measure, **asked)
    assert len(planned.steps) > len(daily.MEASURES)
    assert [step for step in planned.steps if step.startswith("SCAN")] == []
