"""Beliefs over a ledger in memory: outcomes as the daemon records them, without their causes."""

from typing import Any

from astra.beliefs.book import Beliefs
from astra.beliefs.claims import belief_id
from astra.beliefs.model import Belief
from astra.beliefs.projection import PROJECTION
from astra.beliefs.shifts import Shifts
from astra.beliefs.views import BeliefViews
from astra.testing import MemoryLedger, SetClock
from astra.trusted.ledger.projection import CORE
from astra.trusted.ledger.record import Event, Record

STORY = "cor_00000000000000cc"


class BeliefWorld:
    def __init__(self) -> None:
        self.clock = SetClock()
        self.ledger = MemoryLedger(projections=(*CORE, PROJECTION), clock=self.clock)
        self.book = Beliefs(ledger=self.ledger, clock=self.clock)
        self.views = BeliefViews(self.book)
        self.shifts = Shifts(self.book)
        self._number = 0

    def name(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}_{self._number:016x}"

    def append(
        self, type_: str, subject: str | None = None, *, actor: str = "daemon", **data: Any
    ) -> Record:
        event = Event(type=type_, actor=actor, data=data, subject=subject, correlation=STORY)
        return self.ledger.append([event])[0]

    def proposed_change(self, *paths: str) -> str:
        change = self.name("chg")
        facts = {
            "base": "b",
            "commit": change,
            "branch": "x",
            "target_branch": "main",
            "files": [{"path": path} for path in paths],
            "tests": [],
            "diff": {},
        }
        self.append(
            "code_modification_scheduled", change, facts=facts, about={"goal": ""}, task="tsk_1"
        )
        return change

    def tested(self, change: str, verdict: str = "passed", **report: Any) -> None:
        passed = verdict == "passed"
        run_type = "tests_passed" if passed else "tests_failed"
        report = {"verdict": verdict, "failures": [], "flaky": [], **report}
        self.append(run_type, change, label="change", report=report, round=1)
        self.append("tests_completed", change, verdict=verdict, words=verdict, round=1)

    def merged(self, change: str) -> None:
        self.append("code_modification_executed", change, files=[], deploy=False, target_branch="m")

    def merged_change(self, *paths: str) -> str:
        change = self.proposed_change(*paths)
        self.tested(change)
        self.merged(change)
        return change

    def requested(self, deployment: str, change: str) -> None:
        about = {"deployment": deployment, "change": change, "release": "r1", "commit": "c"}
        self.append("deployment_requested", "deployments", kind="deploy", digest="d", **about)

    def taken_back(self, change: str) -> Record:
        return self.append("code_modification_rolled_back", change, reason="it failed", diff={})

    def failing_release(self, *paths: str) -> str:
        change = self.merged_change(*paths)
        self.taken_back(change)
        return change

    def fired(self, schedule: str, outcome: str, *, hour: int = 12) -> None:
        self.append(
            "schedule_firing_closed",
            schedule=schedule,
            firing=self.name("fir"),
            fire_time=f"2026-03-01T{hour:02}:00:00.000000Z",
            outcome=outcome,
            reason="",
            detail="",
            kind="cron",
            attempt=1,
            milliseconds=1.0,
        )

    def called(self, tool: str, code: str = "ok", *, actor: str = "agent:test") -> None:
        outcome = {"ok": code == "ok", "code": code, "milliseconds": 1.0, "size": 1}
        self.append("tool_finished", self.name("call"), actor=actor, tool=tool, outcome=outcome)

    def belief(self, claim: str, kind: str, scope: str) -> Belief:
        return self.book.get(belief_id(claim, kind, scope))

    def numbers(self) -> list[tuple[Any, ...]]:
        """Give every sum there is: what no words may move."""
        return self.ledger.query("SELECT * FROM belief_sum ORDER BY belief, kind, sign")
