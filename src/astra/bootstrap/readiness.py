"""The go / no-go list before code writing is turned on: a verdict and the evidence for each line.

What cannot be shown is a no-go, and so is what does not exist yet. Evidence counts when it is about
this code and this target, and no older than a week: the dry run says so in its record, and results
of the test matrix count once the operator has signed them into the ledger; a file counts for
nothing. The sign-off is a record that the operator signed over exactly this report.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from astra.bootstrap import dry_run
from astra.bootstrap.code_identity import code_digest
from astra.persona.awareness import ALERT, Awareness
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Call, Role
from astra.trusted.policy.decision import Reason
from astra.trusted.policy.gate import Known, decide

if TYPE_CHECKING:
    from astra.bootstrap.runtime import Runtime

SIGNED_OFF, MATRIX_RECORDED = "readiness_signed_off", "readiness_matrix_recorded"
OLDEST = timedelta(days=7)
_ALERTS_SINCE = timedelta(days=1)
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


def report(runtime: "Runtime") -> dict[str, Any]:
    """Walk the list."""
    lines = (
        _writes_refuse(runtime),
        *_matrix(runtime),
        _dry_run(runtime),
        _ledger(runtime),
        _counters(runtime),
        _standing(runtime),
        _rehearsed(runtime),
        _sandbox(runtime),
    )
    document = {
        "go": all(line.go for line in lines),
        "at": format_time(runtime.clock.now()),
        "head": runtime.ledger.head().hash,
        "lines": [line.as_dict() for line in lines],
    }
    return {**document, "sha256": hashlib.sha256(canonical.encode(document)).hexdigest()}


def matrix_content(runtime: "Runtime", matrix: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an operator signs to have a run of the matrix count for this target as it is."""
    rows = [
        {name: row[name] for name in ("name", "flag", "passed", "summary")}
        for row in matrix["rows"]
    ]
    named = {"code": matrix["code"], "at": matrix["at"], "rows": rows}
    return {**named, "target": runtime.change_parts.repo.head()}


def record_matrix(runtime: "Runtime", given: Mapping[str, Any], signed: Signed) -> Record:
    """Keep what a run of the matrix said, by the operator's signature."""
    wanted = matrix_content(runtime, given)
    if problem := _unfit(runtime, wanted, wanted["at"]):
        raise BadInput(f"this matrix does not count: {problem}", next_step="make matrix")
    event = Event(type=MATRIX_RECORDED, actor="operator", data=wanted)
    event = authority.signed_event(runtime.ledger, event, signed, now=runtime.clock.now())
    (record,) = runtime.ledger.append([event])
    return record


def content(found: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an operator signs: this report, and whether it says go."""
    return {"sha256": found["sha256"], "go": found["go"], "at": found["at"]}


def sign_off(runtime: "Runtime", found: Mapping[str, Any], signed: Signed) -> Record:
    event = Event(type=SIGNED_OFF, actor="operator", data=content(found))
    event = authority.signed_event(runtime.ledger, event, signed, now=runtime.clock.now())
    (record,) = runtime.ledger.append([event])
    return record


def _writes_refuse(runtime: "Runtime") -> Line:
    """Ask the gate about every tool that writes code, as if the flag were off."""
    names = [tool for tool in runtime.registry.every() if CODE_WRITE in tool.flags]
    known = Known(
        flags={**dict.fromkeys(runtime.switches.flags(), True), CODE_WRITE: False}, stopped=False
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
            known,
        ).reason
        for tool in names
    }
    open_ = [name for name, reason in reasons.items() if reason is not Reason.FLAG_OFF]
    said = f"not refused: {', '.join(open_)}" if open_ else f"refused: {', '.join(reasons)}"
    return Line(name="with the flag off every write tool refuses", go=not open_, evidence=said)


def _matrix(runtime: "Runtime") -> list[Line]:
    rows, missing = _recorded_rows(runtime)
    to_come = {name for name, tool in PARTS.items() if not runtime.registry.find(tool).available}
    return [
        _row(name, flag, rows.get((name, flag)), _to_come(name) if name in to_come else missing)
        for name, flag in MATRIX
    ]


def _recorded_rows(runtime: "Runtime") -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
    """Give the rows of the last matrix that the operator signed, or say why none count."""
    for record in reversed(views.last(runtime.ledger, count=20, type_=MATRIX_RECORDED)):
        if not authority.holds(runtime.ledger, record):
            continue
        if problem := _unfit(runtime, record.data, record.data["at"]):
            return {}, f"the one of record {record.sequence} does not count: {problem}"
        rows = cast("list[dict[str, Any]]", record.data["rows"])
        return {(row["name"], row["flag"]): row for row in rows}, "that matrix has no such row"
    return {}, "not run: make matrix, then astra readiness --matrix FILE signs what it wrote"


def _unfit(runtime: "Runtime", evidence: Mapping[str, Any], at: str) -> str:
    """Say why evidence does not count here and now, or nothing."""
    if evidence.get("code") != code_digest():
        return "it is about other code than the code that runs here"
    if evidence.get("target") != runtime.change_parts.repo.head():
        return "the target's branch has moved since"
    try:
        age = runtime.clock.now() - datetime.fromisoformat(at)
    except (TypeError, ValueError):
        return "it does not say when it was made"
    if age > OLDEST:
        return f"it is {age.days} days old"
    return "it is from the future" if age < -timedelta(minutes=5) else ""


def _to_come(name: str) -> str:
    return f"there is no {PARTS[name]} in this version: you decide without it"


def _row(name: str, flag: str, row: Mapping[str, Any] | None, missing: str) -> Line:
    title = f"matrix: {name}, flag {flag}"
    if row is None:
        return Line(name=title, go=False, evidence=missing)
    return Line(name=title, go=bool(row["passed"]), evidence=str(row["summary"])[:300])


def _dry_run(runtime: "Runtime") -> Line:
    name = "a dry run completed and its trail is whole"
    found = views.last(runtime.ledger, count=1, type_=dry_run.COMPLETED)
    if not found:
        return Line(name=name, go=False, evidence="none yet: astra changes dry-run")
    data = found[0].data
    problem = _unfit(runtime, data, found[0].time)
    said = (
        f"{data['dry_run']} at {found[0].time[:19]}Z: {data['state']}, tests {data['tests']},"
        f" {data['records']} records, kept in {data['folder']}{f'; {problem}' if problem else ''}"
    )
    return Line(name=name, go=data["ok"] and data["ledger_whole"] and not problem, evidence=said)


def _ledger(runtime: "Runtime") -> Line:
    whole = runtime.change_parts.ledger_is_whole()
    said = f"{runtime.ledger.head().sequence} records" if whole else "run astra ledger verify"
    return Line(name="the ledger verifies", go=whole, evidence=said)


def _counters(runtime: "Runtime") -> Line:
    name = "counters moved as expected and there are no alerts"
    alerts = runtime.changes.book.alerts()
    found = views.last(runtime.ledger, count=1, type_=dry_run.COMPLETED)
    counters: dict[str, int] = found[0].data["counters"] if found else {}
    wanted = ("scheduled_modifications", "approvals", "executed_modifications")
    moved = bool(counters) and all(counters.get(counter) == 1 for counter in wanted)
    said = f"in the dry run: {counters}" if counters else "no dry run has moved them yet"
    if alerts:
        said = f"{len(alerts)} records of the code family while it was off: {alerts[:3]}"
    return Line(name=name, go=moved and not alerts, evidence=said)


def _standing(runtime: "Runtime") -> Line:
    """Name what is wrong right now, and the alerts of the last day."""
    troubles = {
        "ledger": runtime.ledger.trouble,
        "steps": runtime.steps.trouble,
        "changes": runtime.change_steps.trouble,
        "schedules": runtime.scheduler.trouble,
        "disk": "almost full" if runtime.reserve.is_low() else "",
    }
    since = format_time(runtime.clock.now() - _ALERTS_SINCE)
    notes, _ = Awareness(runtime.ledger).read(kind=ALERT, limit=20)
    standing = [f"{name}: {trouble}" for name, trouble in troubles.items() if trouble]
    standing += [f"{note.time[:19]}Z {note.text}" for note in notes if note.time >= since]
    said = "; ".join(standing) or "nothing is wrong, and the last day had no alert"
    return Line(name="no alert stands", go=not standing, evidence=said)


def _rehearsed(runtime: "Runtime") -> Line:
    name = "an operator has rehearsed an approval"
    for record in reversed(views.last(runtime.ledger, count=20, type_=dry_run.APPROVED)):
        if authority.holds(runtime.ledger, record):
            said = f"signed in {record.data['dry_run']}, record {record.sequence}"
            return Line(name=name, go=True, evidence=said)
    return Line(name=name, go=False, evidence="none yet: astra changes dry-run asks for one")


def _sandbox(runtime: "Runtime") -> Line:
    name = "the sandbox was proven to hold here"
    found = runtime.sandbox.preflight()
    if runtime.sandbox.off:
        return Line(name=name, go=False, evidence="it is switched off (off-unsafe)")
    said = "; ".join(problem.what for problem in found.problems) or "every probe held"
    return Line(name=name, go=found.ok, evidence=said)
