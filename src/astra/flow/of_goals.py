"""What a goal makes due: a plan, once it is proposed; what is due while it runs is its lane's."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from astra.flow import rows
from astra.goals import events as goals
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record

PLAN_STEP, SETTLE_STEP, REPAIR_STEP = "plan-goal", "settle-repair", "propose-repair"


def _goal_created(record: Record) -> Iterator[Statement]:
    yield rows.upsert(record, PLAN_STEP)
    if deployment := record.data.get("deployment"):
        yield rows.delete_step(deployment, REPAIR_STEP)
        yield rows.insert(record, SETTLE_STEP, None)


def _goal_proposed(record: Record) -> Iterator[Statement]:
    yield rows.upsert(record, PLAN_STEP)


def _goal_planned(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.subject, PLAN_STEP)
    yield (
        "UPDATE due_step SET due = ? WHERE subject = ? AND step = ?",
        (record.time, record.subject, SETTLE_STEP),
    )


def _planning_failed(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.subject, PLAN_STEP)


def _goal_decided(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.subject, PLAN_STEP)
    yield rows.delete_step(record.subject, SETTLE_STEP)


EFFECTS: Mapping[str, rows.Effect] = MappingProxyType(
    {
        goals.CREATED: _goal_created,
        goals.REOPENED: _goal_proposed,
        goals.PLANNED: _goal_planned,
        goals.PLANNING_FAILED: _planning_failed,
        goals.ADOPTED: _goal_decided,
        goals.ABANDONED: _goal_decided,
    }
)
