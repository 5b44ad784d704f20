"""The go / no-go list before code writing is turned on: a verdict and the evidence for each line.

What cannot be shown is a no-go, and so is what does not exist yet. The sign-off is a record that
the operator signed over exactly this report.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from astra.changes import dry_run
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Call, Role
from astra.trusted.policy.decision import Reason
from astra.trusted.policy.gate import Known, decide

SIGNED_OFF = "readiness_signed_off"
CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"
MATRIX = (
    ("access", "off"),
    ("conversation tools", "off"),
    ("changes", "off"),
    ("changes", "on"),
    ("goal execution", "on"),
    ("research plans", "on"),
    ("smoke", "on"),
)
"""What `make matrix` has to have passed; a row that is not there is a no-go."""
PARTS = {"goal execution": "execute_goal", "research plans": "research_and_summarize"}
"""Rows that can only exist once their tool does."""


@dataclass(frozen=True, kw_only=True)
class Line:
    name: str
    go: bool
    evidence: str

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """The list, walked over one data root."""

    ledger: Ledger
    clock: Clock
    registry: Registry
    flags: Callable[[], Iterable[str]]
    ledger_is_whole: Callable[[], bool]
    alerts: Callable[[], Sequence[Any]]
    sandbox_off: Callable[[], bool]
    sandbox_problems: Callable[[], Sequence[str]]

    def report(self, matrix: Mapping[str, Any] | None) -> dict[str, Any]:
        """Walk the list; `matrix` is what `make matrix` wrote, or nothing."""
        lines = (
            self._write_tools(),
            *self._matrix_rows(matrix),
            self._dry_run(),
            self._chain(),
            self._counters(),
            self._rehearsal(),
            self._sandbox(),
        )
        document = {
            "go": all(line.go for line in lines),
            "at": format_time(self.clock.now()),
            "head": self.ledger.head().hash,
            "lines": [line.as_dict() for line in lines],
        }
        return {**document, "sha256": hashlib.sha256(canonical.encode(document)).hexdigest()}

    def sign_off(self, report: Mapping[str, Any], signed: Signed) -> Record:
        event = Event(type=SIGNED_OFF, actor="operator", data=content(report))
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        (record,) = self.ledger.append([event])
        return record

    def _write_tools(self) -> Line:
        """Ask the gate about every tool that writes code, as if the flag were off."""
        names = [tool for tool in self.registry.every() if CODE_WRITE in tool.flags]
        known = Known(flags={**dict.fromkeys(self.flags(), True), CODE_WRITE: False}, stopped=False)
        actor = Actor(role=Role.AGENT, name="readiness", door="readiness")
        reasons = {
            tool.name: decide(
                Call(
                    tool=tool.name,
                    tier=tool.tier,
                    actor=actor,
                    arguments={},
                    flags=tool.flags,
                    correlation=random_id("cor"),
                ),
                known,
            ).reason
            for tool in names
        }
        open_ = [name for name, reason in reasons.items() if reason is not Reason.FLAG_OFF]
        evidence = f"not refused: {', '.join(open_)}" if open_ else f"refused: {', '.join(reasons)}"
        return Line(
            name="with the flag off every write tool refuses", go=not open_, evidence=evidence
        )

    def _matrix_rows(self, matrix: Mapping[str, Any] | None) -> list[Line]:
        rows = cast("list[dict[str, Any]]", (matrix or {}).get("rows", []))
        passed = {(row["name"], row["flag"]): row for row in rows}
        missing = (
            "that matrix has no such row" if rows else "not run: make matrix, then --matrix FILE"
        )
        to_come = {name for name, tool in PARTS.items() if not self.registry.find(tool).available}
        return [
            _row(
                name, flag, passed.get((name, flag)), _to_come(name) if name in to_come else missing
            )
            for name, flag in MATRIX
        ]

    def _dry_run(self) -> Line:
        name = "a dry run completed and its trail is whole"
        records = views.last(self.ledger, count=1, type_=dry_run.COMPLETED)
        if not records:
            return Line(name=name, go=False, evidence="none yet: astra changes dry-run")
        data = records[0].data
        evidence = (
            f"{data['dry_run']} at {records[0].time[:19]}Z: {data['state']}, tests {data['tests']},"
            f" {data['records']} records, kept in {data['folder']}"
        )
        return Line(name=name, go=data["ok"] and data["ledger_whole"], evidence=evidence)

    def _chain(self) -> Line:
        whole = self.ledger_is_whole()
        evidence = f"{self.ledger.head().sequence} records" if whole else "run astra ledger verify"
        return Line(name="the ledger verifies", go=whole, evidence=evidence)

    def _counters(self) -> Line:
        name = "counters moved as expected and there are no alerts"
        alerts = self.alerts()
        records = views.last(self.ledger, count=1, type_=dry_run.COMPLETED)
        counters: dict[str, int] = records[0].data["counters"] if records else {}
        expected = ("scheduled_modifications", "approvals", "executed_modifications")
        moved = bool(counters) and all(counters.get(counter) == 1 for counter in expected)
        evidence = f"in the dry run: {counters}" if counters else "no dry run has moved them yet"
        if alerts:
            evidence = f"{len(alerts)} records of the code family while it was off: {alerts[:3]}"
        return Line(name=name, go=moved and not alerts, evidence=evidence)

    def _rehearsal(self) -> Line:
        name = "an operator has rehearsed an approval"
        for record in reversed(views.last(self.ledger, count=20, type_=dry_run.APPROVED)):
            if authority.holds(self.ledger, record):
                evidence = f"signed in {record.data['dry_run']}, record {record.sequence}"
                return Line(name=name, go=True, evidence=evidence)
        return Line(name=name, go=False, evidence="none yet: astra changes dry-run asks for one")

    def _sandbox(self) -> Line:
        name = "the sandbox was proven to hold here"
        if self.sandbox_off():
            return Line(name=name, go=False, evidence="it is switched off (off-unsafe)")
        problems = self.sandbox_problems()
        return Line(name=name, go=not problems, evidence="; ".join(problems) or "every probe held")


def content(report: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an operator signs: this report, and whether it says go."""
    return {"sha256": report["sha256"], "go": report["go"], "at": report["at"]}


def _to_come(name: str) -> str:
    return f"there is no {PARTS[name]} in this version: you decide without it"


def _row(name: str, flag: str, row: Mapping[str, Any] | None, missing: str) -> Line:
    title = f"matrix: {name}, flag {flag}"
    if row is None:
        return Line(name=title, go=False, evidence=missing)
    return Line(name=title, go=bool(row["passed"]), evidence=str(row["summary"])[:300])
