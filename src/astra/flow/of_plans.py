"""What a plan makes due: its request, acting on the answer, and the files that show it."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from astra.flow import rows
from astra.plans import allowlist, book
from astra.plans import events as plans
from astra.trusted.ledger.projection import Statement
from astra.trusted.ledger.record import Record


def _plan_waits(record: Record) -> Iterator[Statement]:
    yield rows.upsert(record, "ask-approval")
    yield rows.delete_step(record.subject, "export-plan")


def _plan_granted(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.subject, "ask-approval")
    yield rows.upsert(record, "export-plan")


def _plan_given_more(record: Record) -> Iterator[Statement]:
    if not record.data["once"]:
        yield rows.upsert(record, "export-plan")


def _plan_exported(record: Record) -> Iterator[Statement]:
    yield rows.delete_step(record.subject, "export-plan")


def _plan_over(record: Record) -> Iterator[Statement]:
    yield from rows.delete_steps(record)
    yield rows.delete_step(record.data.get("approval"), book.REJECT_STEP)


def _allowlist_changed(record: Record) -> Iterator[Statement]:
    yield rows.upsert(record, "export-allowlist", allowlist.SUBJECT)


def _allowlist_exported(_record: Record) -> Iterator[Statement]:
    yield rows.delete_step(allowlist.SUBJECT, "export-allowlist")


EFFECTS: Mapping[str, rows.Effect] = MappingProxyType(
    {
        plans.DRAFTED: _plan_waits,
        plans.REVISED: _plan_waits,
        plans.APPROVED: _plan_granted,
        plans.PERMISSION_GRANTED: _plan_given_more,
        plans.FILES_EXPORTED: _plan_exported,
        plans.REJECTED: _plan_over,
        plans.ABORTED: _plan_over,
        plans.COMPLETED: _plan_over,
        plans.GLOBAL_GRANT_ADDED: _allowlist_changed,
        plans.GLOBAL_GRANT_REMOVED: _allowlist_changed,
        plans.ALLOWLIST_EXPORTED: _allowlist_exported,
    }
)
