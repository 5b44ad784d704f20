"""The approved contract as files: `agents/<id>/plan.json` and `agents/<id>/grants.json`.

They are exports of the ledger and grant nothing. Still, somebody who edits one wants something that
was not approved: while a plan is under contract, files that are not what was exported end it
(`plan_tampered`, `grants_tampered`). An export that is due and not done yet is no tampering: the
record that it was done comes after the files.
"""

import contextlib
from dataclasses import dataclass, replace
from typing import Any

from astra.plans import book, events
from astra.plans.model import AgentPlan
from astra.plans.ports import PlanFiles
from astra.plans.register import Decide, Register
from astra.plans.states import UNDER_CONTRACT
from astra.trusted.approvals.desk import Desk
from astra.trusted.kernel import canonical
from astra.trusted.kernel.errors import AstraError
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority

PLAN_FILE, GRANTS_FILE = "plan.json", "grants.json"
PLAN_TAMPERED, GRANTS_TAMPERED = "plan_tampered", "grants_tampered"


class _AlreadyExported(Exception):
    """Another hand wrote the same files and was first with the record."""


@dataclass(frozen=True, kw_only=True)
class Exports:
    register: Register
    desk: Desk
    files: PlanFiles

    def export(self, identifier: str) -> None:
        """Write a plan's files as the ledger says now; doing it twice changes nothing."""
        while self.is_due(plan := self.register.get(identifier)):
            self._write_files(plan)

    def is_due(self, plan: AgentPlan) -> bool:
        has_contract = plan.state in UNDER_CONTRACT and plan.grants is not None
        return has_contract and plan.plan is not None and plan.exported != _make_export_mark(plan)

    def _write_files(self, plan: AgentPlan) -> None:
        identifier = plan.id
        try:
            self.files.write(identifier, render_files(plan))
        except OSError as error:
            raise AstraError(
                f"the files of {identifier} cannot be written: {error.strerror}",
                code="plan_not_written",
                next_step="mend the disk; it is tried again by itself",
            ) from error
        with contextlib.suppress(_AlreadyExported):
            self.register.move(identifier, events.FILES_EXPORTED, self._facts_of(plan))

    def _facts_of(self, written: AgentPlan) -> Decide:
        """Note what was written, unless somebody else noted it meanwhile."""

        def decide(now: AgentPlan) -> dict[str, Any]:
            if not self.is_due(now):
                raise _AlreadyExported
            return {"plan_hash": now.plan_hash, "grants_hash": written.grants_hash}

        return decide

    def find_tampering(self, plan: AgentPlan) -> str:
        """Give the reason why a plan under contract cannot go on, or nothing."""
        if plan.state not in UNDER_CONTRACT or plan.grants is None or plan.plan is None:
            return ""
        if plan.plan.hash() != plan.grants.plan_hash:
            return PLAN_TAMPERED
        if not self._is_authorised(plan):
            return GRANTS_TAMPERED
        if self.is_due(plan):
            return ""
        expected_texts = render_files(plan)
        if self.files.read(plan.id, PLAN_FILE) != expected_texts[PLAN_FILE]:
            return PLAN_TAMPERED
        return (
            GRANTS_TAMPERED
            if self.files.read(plan.id, GRANTS_FILE) != expected_texts[GRANTS_FILE]
            else ""
        )

    def _is_authorised(self, plan: AgentPlan) -> bool:
        """Follow the grants back to the operator's signatures, whatever the index says."""
        assert plan.grants is not None  # noqa: S101 - asked of plans under contract
        assert plan.approval is not None  # noqa: S101 - as above
        added = [record for record in self._read_added_grants(plan) if not record.data["once"]]
        items = tuple((kind, value) for record in added for kind, value in record.data["items"])
        bare = replace(plan.grants, added=())
        approval = self.desk.get(plan.approval)
        return (
            book.digest_of(bare) == approval.digest
            and self.desk.was_signed(plan.approval)
            and bare.plus(items).hash() == plan.grants_hash == plan.grants.hash()
            and all(
                authority.is_signed_by_operator(self.register.ledger, record) for record in added
            )
        )

    def _read_added_grants(self, plan: AgentPlan) -> list[Record]:
        return self.register.ledger.records_of(plan.id, events.PERMISSION_GRANTED)


def render_files(plan: AgentPlan) -> dict[str, str]:
    """Write out the files of a plan under contract."""
    assert plan.plan is not None  # noqa: S101 - it was approved, so it was drafted
    assert plan.grants is not None  # noqa: S101 - as above
    granted: dict[str, Any] = {
        **plan.grants.as_dict(),
        "grants_hash": plan.grants_hash,
        "approval": plan.approval,
    }
    return {PLAN_FILE: _encode_file(plan.plan.as_dict()), GRANTS_FILE: _encode_file(granted)}


def _make_export_mark(plan: AgentPlan) -> str:
    return f"{plan.plan_hash}/{plan.grants_hash}"


def _encode_file(document: dict[str, Any]) -> str:
    return canonical.encode(document).decode() + "\n"
