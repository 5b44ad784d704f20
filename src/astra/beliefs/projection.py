"""Beliefs as a projection: which records are evidence, for and against what.

Only outcomes count: what the daemon recorded about a test run, a merge, a release, a task, a firing
or a call. Words are no outcome, so neither a proposal nor a desire is in this table. What an agent
can bring about without a person is counted a few times a day at most, for all agents together.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from astra.beliefs import own_records
from astra.beliefs.claims import (
    LONGEST_SCOPE,
    NIGHT_BEGINS,
    NIGHT_ENDS,
    ScopeKind,
    belief_id,
    list_folders,
)
from astra.beliefs.tables import (
    HALF_LIFE_DAYS,
    LINK,
    REGISTER,
    TABLES,
    count_evidence,
)
from astra.deployments import events as deployments
from astra.goals import events as goals
from astra.schedules import events as schedules
from astra.trusted.changes import model as changes
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Record
from astra.trusted.policy import telemetry

FOR, AGAINST = 1, -1
EGRESS_ATTEMPTED = "egress_attempted"
MOST_FOLDERS, MOST_TESTS = 40, 20
MOST_A_DAY: Mapping[str, int] = MappingProxyType(
    {
        "rollback": 24,
        "settlement": 24,
        "test_pass": 3,
        "test_failure": 3,
        "test_flake": 3,
        "goal_success": 24,
        "task_success": 24,
        "task_failure": 24,
        "firing_success": 24,
        "firing_failure": 24,
        "call_success": 1,
        "call_failure": 1,
    }
)
"""How often a kind of evidence counts for one belief in a day, for each role."""
_OWN, _METHOD, _TESTED = "own", "method", "tested"
_ROLLED_BACK, _PASSES = "rolled_back", "passes_tests"
_INTERRUPTED = "interrupted"
_OUTAGES = frozenset({"failed", "timed_out", "cannot_connect"})


def _count(
    record: Record, kind: str, sign: int, *, subject: str, part: str, together: str = ""
) -> Statement:
    return count_evidence(
        sequence=record.sequence,
        time=record.time,
        kind=kind,
        sign=sign,
        together=together or f"record {record.sequence}",
        who=record.actor.partition(":")[0],
        most_a_day=MOST_A_DAY[kind],
        subject=subject,
        part=part,
    )


def _register(claim: str, kind: ScopeKind, scope: str) -> Iterator[Statement]:
    identifier = belief_id(claim, kind, scope)
    yield REGISTER, (identifier, claim, str(kind), scope)
    yield LINK, (identifier, _OWN, identifier)


def _count_own(
    record: Record, claim: str, place: tuple[ScopeKind, str], evidence: tuple[str, int], group: str
) -> Iterator[Statement]:
    """Count a record for the one belief that it is about."""
    kind, scope = place
    yield from _register(claim, kind, scope)
    identifier = belief_id(claim, kind, scope)
    yield _count(record, *evidence, subject=identifier, part=_OWN, together=group)


def _link_folders(record: Record) -> Iterator[Statement]:
    """Say which folders a change is about; that is no evidence yet."""
    paths = [str(file["path"]) for file in record.data["facts"]["files"]]
    folders = sorted({folder for path in paths for folder in list_folders(path)})
    for folder in folders[:MOST_FOLDERS]:
        scope = one_line(folder, LONGEST_SCOPE)
        for claim in (_ROLLED_BACK, _PASSES):
            yield from _register(claim, ScopeKind.PATH, scope)
            yield LINK, (record.subject, claim, belief_id(claim, ScopeKind.PATH, scope))


def _count_tests_by_name(record: Record) -> Iterator[Statement]:
    """Count tests that passed when they were run again, and those that failed both times."""
    report: dict[str, Any] = record.data["report"]
    flaky = [one_line(str(name)) for name in report.get("flaky", ())][:MOST_TESTS]
    failures = [one_line(str(failure["name"])) for failure in report.get("failures", ())]
    steady = [name for name in failures if name not in flaky][:MOST_TESTS]
    change = f"tests of {record.subject}"
    for name in dict.fromkeys(flaky):
        evidence = ("test_flake", FOR)
        yield from _count_own(record, "flaky", (ScopeKind.TEST, name), evidence, change)
    for name in dict.fromkeys(steady):  # counts where somebody saw it flaky before
        belief = belief_id("flaky", ScopeKind.TEST, name)
        yield _count(record, "test_failure", AGAINST, subject=belief, part=_OWN, together=change)


def _count_verdict(record: Record) -> Iterator[Statement]:
    """Count the runs of a change once together; what is merged is remembered as tested."""
    change, verdict = str(record.subject), record.data["verdict"]
    yield "DELETE FROM belief_link WHERE subject = ? AND part = ?", (change, _TESTED)
    if verdict == "passed":
        yield _copy_links(change, _ROLLED_BACK, to=(change, _TESTED))
    if verdict in {"passed", "failed"}:
        kind, sign = ("test_pass", FOR) if verdict == "passed" else ("test_failure", AGAINST)
        yield _count(
            record, kind, sign, subject=change, part=_PASSES, together=f"tests of {change}"
        )


def _copy_links(subject: str, part: str, *, to: tuple[str, str]) -> Statement:
    return (
        (
            "INSERT OR IGNORE INTO belief_link SELECT ?, ?, belief FROM belief_link"
            " WHERE subject = ? AND part = ?"
        ),
        (*to, subject, part),
    )


def _count_merge(record: Record) -> Iterator[Statement]:
    change = str(record.subject)
    group = f"tests of {change}"
    yield _count(record, "test_pass", AGAINST, subject=change, part=_TESTED, together=group)


def _link_deployment(record: Record) -> Iterator[Statement]:
    if change := record.data.get("change"):
        deployment = record.data["deployment"]
        yield _copy_links(change, _ROLLED_BACK, to=(deployment, _ROLLED_BACK))
        yield _copy_links(change, _METHOD, to=(deployment, _METHOD))


def _count_settlement(record: Record) -> Iterator[Statement]:
    deployment = str(record.subject)
    for part, sign in ((_ROLLED_BACK, AGAINST), (_METHOD, FOR)):
        yield _count(record, "settlement", sign, subject=deployment, part=part, together=deployment)


def _count_rollback(record: Record) -> Iterator[Statement]:
    change = str(record.subject)
    for part, sign in ((_ROLLED_BACK, FOR), (_METHOD, AGAINST)):
        yield _count(record, "rollback", sign, subject=change, part=part, together=change)


def _link_methods(record: Record) -> Iterator[Statement]:
    for node in record.data["graph"]["nodes"]:
        method = one_line(str(node["method"]), LONGEST_SCOPE)
        yield from _register("works", ScopeKind.METHOD, method)
        identifier = belief_id("works", ScopeKind.METHOD, method)
        yield LINK, (record.subject, _METHOD, identifier)
        yield LINK, (f"{record.subject} {node['id']}", _METHOD, identifier)


def _count_task(record: Record) -> Iterator[Statement]:
    """Count how a task ended for its method; that a daemon died under it says nothing."""
    data = record.data
    goal, subject = str(data["goal"]), f"{data['goal']} {data['node']}"
    if data["outcome"] in {"succeeded", "failed"} and data["reason"] != _INTERRUPTED:
        succeeded = data["outcome"] == "succeeded"
        kind, sign = ("task_success", FOR) if succeeded else ("task_failure", AGAINST)
        yield _count(record, kind, sign, subject=subject, part=_METHOD, together=f"{kind} {goal}")
    outputs: dict[str, Any] = data.get("outputs", {})
    if change := outputs.get("change"):
        yield _copy_links(subject, _METHOD, to=(str(change), _METHOD))


def _link_waiting_task(record: Record) -> Iterator[Statement]:
    """Say which method a change is made by, before anything can become of the change."""
    data = record.data
    task = f"{data['goal']} {data['node']}"
    yield _copy_links(task, _METHOD, to=(str(data["on"]), _METHOD))


def _count_goal(record: Record) -> Iterator[Statement]:
    """Count a goal whose criteria ran and held; one that a person closed shows nothing."""
    if record.data.get("checks"):
        goal = str(record.subject)
        yield _count(record, "goal_success", FOR, subject=goal, part=_METHOD, together=goal)


def _count_firing(record: Record) -> Iterator[Statement]:
    data = record.data
    if data["outcome"] not in {"succeeded", "failed"}:
        return
    failed = data["outcome"] == "failed"
    place = (ScopeKind.SCHEDULE, str(data["schedule"]))
    evidence = ("firing_failure", FOR) if failed else ("firing_success", AGAINST)
    yield from _count_own(record, "fails", place, evidence, data["firing"])
    hour = int(str(data["fire_time"])[11:13])
    if not NIGHT_ENDS <= hour < NIGHT_BEGINS:
        yield from _count_own(record, "fails_at_night", place, evidence, data["firing"])


def _count_call(record: Record) -> Iterator[Statement]:
    """Count a call that went well or broke; one that was refused says nothing about its tool."""
    outcome = record.data["outcome"]
    place = (ScopeKind.TOOL, str(record.data["tool"])[:LONGEST_SCOPE])
    yield from _count_outage(record, place, str(outcome["code"]), ok=bool(outcome["ok"]))


def _count_egress(record: Record) -> Iterator[Statement]:
    reason = str(record.data["reason"])
    place = (ScopeKind.DOMAIN, one_line(str(record.data["host"]), LONGEST_SCOPE))
    yield from _count_outage(record, place, reason, ok=reason == "allowed")


def _count_outage(
    record: Record, place: tuple[ScopeKind, str], code: str, *, ok: bool
) -> Iterator[Statement]:
    if not (ok or code in _OUTAGES):
        return
    evidence = ("call_success", AGAINST) if ok else ("call_failure", FOR)
    yield from _count_own(record, "fails", place, evidence, "")


_EFFECTS: Mapping[str, Callable[[Record], Iterator[Statement]]] = {
    changes.SCHEDULED: _link_folders,
    changes.REBASED: _link_folders,
    changes.TESTS_PASSED: _count_tests_by_name,
    changes.TESTS_FAILED: _count_tests_by_name,
    changes.TESTS_COMPLETED: _count_verdict,
    changes.EXECUTED: _count_merge,
    changes.ROLLED_BACK: _count_rollback,
    deployments.REQUESTED: _link_deployment,
    deployments.SETTLED: _count_settlement,
    goals.PLANNED: _link_methods,
    goals.TASK_WAITED: _link_waiting_task,
    goals.TASK_FINISHED: _count_task,
    goals.SATISFIED: _count_goal,
    schedules.CLOSED: _count_firing,
    telemetry.TOOL_FINISHED: _count_call,
    EGRESS_ATTEMPTED: _count_egress,
    **own_records.EFFECTS,
}


def _apply_record(record: Record) -> Iterator[Statement]:
    yield from _EFFECTS[record.type](record)


PROJECTION = Projection(
    "beliefs",
    TABLES,
    _apply_record,
    types=frozenset(_EFFECTS),
    version=int(HALF_LIFE_DAYS),
)
