"""The go / no-go list before code writing is turned on: a verdict and the evidence for each line.

What cannot be shown is a no-go, and so is what does not exist yet. Evidence counts when it is about
this code and this target, and no older than a week: the dry run says so in its record, and results
of the test matrix count once the operator has signed them into the ledger; a file counts for
nothing. The sign-off is a record that the operator signed over exactly this report.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from astra.changes import dry_run
from astra.changes.code_identity import code_digest
from astra.trusted.calls.registry import Registry
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import Clock, format_time, show_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Call, Role
from astra.trusted.policy.decision import Reason
from astra.trusted.policy.gate import Known, decide

SIGNED_OFF, MATRIX_RECORDED = "readiness_signed_off", "readiness_matrix_recorded"
OLDEST = timedelta(days=7)
_ALERTS_SINCE = timedelta(days=1)
CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"
MATRIX = (
    ("access", "off"),
    ("conversation tools", "off"),
    ("changes", "off"),
    ("changes", "on"),
    ("goal execution", "off"),
    ("goal execution", "on"),
    ("research plans", "off"),
    ("research plans", "on"),
    ("smoke", "on"),
)
"""What `make matrix` has to have passed; a row that is not there is a no-go."""


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
    target: Callable[[], str]
    """Names the newest commit of the target's branch."""
    troubles: Callable[[], Mapping[str, str]]
    """Says what fails now, by its part; empty where nothing does."""
    alerts_since: Callable[[str], Sequence[str]]
    """Gives the alerts that people were shown since a time."""

    def report(self) -> dict[str, Any]:
        """Walk the list."""
        lines = (
            self._write_tools(),
            *self._matrix_rows(),
            self._dry_run(),
            self._check_ledger(),
            self._check_counters(),
            self._check_alerts(),
            self._check_rehearsal(),
            self._check_sandbox(),
        )
        document = {
            "go": all(line.go for line in lines),
            "at": format_time(self.clock.now()),
            "head": self.ledger.head().hash,
            "lines": [line.as_dict() for line in lines],
        }
        return {**document, "sha256": hashlib.sha256(canonical.encode(document)).hexdigest()}

    def matrix_content(self, matrix: Mapping[str, Any]) -> dict[str, Any]:
        """Give what an operator signs to have a run of the matrix count for this target now."""
        rows = [
            {name: row[name] for name in ("name", "flag", "passed", "summary")}
            for row in matrix["rows"]
        ]
        about = {"code": matrix["code"], "at": matrix["at"], "rows": rows}
        return {**about, "target": self.target()}

    def record_matrix(self, matrix: Mapping[str, Any], signed: Signed) -> Record:
        """Keep what a run of the matrix said, by the operator's signature."""
        data = self.matrix_content(matrix)
        if problem := self._explain_unfit(data, data["at"]):
            raise BadInput(f"this matrix does not count: {problem}", next_step="make matrix")
        event = Event(type=MATRIX_RECORDED, actor="operator", data=data)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        (record,) = self.ledger.append([event])
        return record

    def sign_off(self, report: Mapping[str, Any], signed: Signed) -> Record:
        event = Event(type=SIGNED_OFF, actor="operator", data=sign_off_content(report))
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        (record,) = self.ledger.append([event])
        return record

    def _write_tools(self) -> Line:
        """Ask the gate about every tool that writes code, as if the flag were off."""
        names = [tool for tool in self.registry.list_all() if CODE_WRITE in tool.flags]
        gate_state = Known(
            flags={**dict.fromkeys(self.flags(), True), CODE_WRITE: False}, stopped=False
        )
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
                gate_state,
            ).reason
            for tool in names
        }
        open_ = [name for name, reason in reasons.items() if reason is not Reason.FLAG_OFF]
        evidence = f"not refused: {', '.join(open_)}" if open_ else f"refused: {', '.join(reasons)}"
        return Line(
            name="with the flag off every write tool refuses", go=not open_, evidence=evidence
        )

    def _matrix_rows(self) -> list[Line]:
        rows, missing_reason = self._recorded_rows()
        return [
            _line_from_row(name, flag, rows.get((name, flag)), missing_reason)
            for name, flag in MATRIX
        ]

    def _recorded_rows(self) -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
        """Give the rows of the last matrix that the operator signed, or say why none count."""
        for record in reversed(views.newest_records(self.ledger, count=20, type_=MATRIX_RECORDED)):
            if not authority.is_signed_by_operator(self.ledger, record):
                continue
            if problem := self._explain_unfit(record.data, record.data["at"]):
                return {}, f"the one of record {record.sequence} does not count: {problem}"
            rows = cast("list[dict[str, Any]]", record.data["rows"])
            return {(row["name"], row["flag"]): row for row in rows}, "that matrix has no such row"
        return {}, "not run: make matrix, then astra readiness --matrix FILE signs what it wrote"

    def _explain_unfit(self, evidence: Mapping[str, Any], at: str) -> str:
        """Say why evidence does not count here and now, or nothing."""
        if evidence.get("code") != code_digest():
            return "it is about other code than the code that runs here"
        if evidence.get("target") != self.target():
            return "the target's branch has moved since"
        try:
            age = self.clock.now() - datetime.fromisoformat(at)
        except (TypeError, ValueError):
            return "it does not say when it was made"
        if age > OLDEST:
            return f"it is {age.days} days old"
        return "it is from the future" if age < -timedelta(minutes=5) else ""

    def _dry_run(self) -> Line:
        name = "a dry run completed and its trail is whole"
        records = views.newest_records(self.ledger, count=1, type_=dry_run.COMPLETED)
        if not records:
            return Line(name=name, go=False, evidence="none yet: astra changes dry-run")
        data = records[0].data
        problem = self._explain_unfit(data, records[0].time)
        evidence = (
            f"{data['dry_run']} at {show_time(records[0].time)}: {data['state']},"
            f" tests {data['tests']},"
            f" {data.get('mutants', 'mutants: not measured')},"
            f" {data['records']} records, kept in {data['folder']}"
            f"{f'; {problem}' if problem else ''}"
        )
        go = data["ok"] and data["ledger_whole"] and not problem
        return Line(name=name, go=go, evidence=evidence)

    def _check_ledger(self) -> Line:
        is_whole = self.ledger_is_whole()
        evidence = (
            f"{self.ledger.head().sequence} records" if is_whole else "run astra ledger verify"
        )
        return Line(name="the ledger verifies", go=is_whole, evidence=evidence)

    def _check_counters(self) -> Line:
        name = "counters moved as expected and there are no alerts"
        alerts = self.alerts()
        records = views.newest_records(self.ledger, count=1, type_=dry_run.COMPLETED)
        counters: dict[str, int] = records[0].data["counters"] if records else {}
        counter_names = ("scheduled_modifications", "approvals", "executed_modifications")
        counters_moved = bool(counters) and all(
            counters.get(counter) == 1 for counter in counter_names
        )
        evidence = f"in the dry run: {counters}" if counters else "no dry run has moved them yet"
        if alerts:
            evidence = f"{len(alerts)} records of the code family while it was off: {alerts[:3]}"
        return Line(name=name, go=counters_moved and not alerts, evidence=evidence)

    def _check_alerts(self) -> Line:
        """Name what is wrong right now, and the alerts of the last day."""
        standing = [f"{name}: {trouble}" for name, trouble in self.troubles().items() if trouble]
        standing += self.alerts_since(format_time(self.clock.now() - _ALERTS_SINCE))
        evidence = "; ".join(standing) or "nothing is wrong, and the last day had no alert"
        return Line(name="no alert stands", go=not standing, evidence=evidence)

    def _check_rehearsal(self) -> Line:
        name = "an operator has rehearsed an approval"
        for record in reversed(views.newest_records(self.ledger, count=20, type_=dry_run.APPROVED)):
            if authority.is_signed_by_operator(self.ledger, record):
                evidence = f"signed in {record.data['dry_run']}, record {record.sequence}"
                return Line(name=name, go=True, evidence=evidence)
        return Line(name=name, go=False, evidence="none yet: astra changes dry-run asks for one")

    def _check_sandbox(self) -> Line:
        name = "the sandbox was proven to hold here"
        if self.sandbox_off():
            return Line(name=name, go=False, evidence="it is switched off (off-unsafe)")
        problems = self.sandbox_problems()
        return Line(name=name, go=not problems, evidence="; ".join(problems) or "every probe held")


def sign_off_content(report: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an operator signs: this report, and whether it says go."""
    return {"sha256": report["sha256"], "go": report["go"], "at": report["at"]}


def _line_from_row(name: str, flag: str, row: Mapping[str, Any] | None, missing: str) -> Line:
    title = f"matrix: {name}, flag {flag}"
    if row is None:
        return Line(name=title, go=False, evidence=missing)
    return Line(name=title, go=bool(row["passed"]), evidence=str(row["summary"])[:300])
