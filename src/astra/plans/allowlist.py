"""The global allowlist: grants that hold for every plan that asks for them.

Adding loosens and is signed; removing is free and bites at the next step of a running plan. The
file `agent_global_grants.json` is an export of the ledger; it grants nothing by itself.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from astra.plans import events
from astra.plans.grants import covers
from astra.plans.ports import PlanFiles
from astra.plans.schema import GRANT_KINDS
from astra.plans.validation import Rules
from astra.trusted.kernel import canonical
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import BadInput, LedgerUnavailable, NotFound, StaleVersion
from astra.trusted.ledger import chain, unseen
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.verbs import END
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

SUBJECT = "agent-global-grants"
_UNSAID = 0
"""The version of a list that an earlier version of Astra exported without saying which."""
_CHANGES = (events.GLOBAL_GRANT_ADDED, events.GLOBAL_GRANT_REMOVED)


@dataclass(frozen=True, kw_only=True)
class Allowlist:
    ledger: Ledger
    clock: Clock
    rules: Callable[[], Rules]
    files: PlanFiles

    def list_grants(self) -> list[dict[str, Any]]:
        """Give what is granted, by the operator's own signature."""
        rows = self.ledger.query(
            "SELECT kind, value, line FROM global_grant JOIN record USING (sequence)"
            " ORDER BY global_grant.sequence"
        )
        records = [(kind, value, chain.parse(line)) for kind, value, line in rows]
        return [
            {"kind": kind, "value": value, "added_at": record.time}
            for kind, value, record in records
            if authority.is_signed_by_operator(self.ledger, record)
        ]

    def allows(self, kind: str, value: str) -> bool:
        return any(
            item["kind"] == kind and covers(kind, item["value"], value)
            for item in self.list_grants()
        )

    def content(self, kind: str, value: str) -> dict[str, Any]:
        """Give what an operator signs to add a grant, in its one spelling; refuse a bad one."""
        if kind not in GRANT_KINDS:
            raise BadInput(f"{kind!r} is no kind", next_step=f"one of: {', '.join(GRANT_KINDS)}")
        (spelled,) = self.rules().spell_grants(kind, [value])
        return {"kind": kind, "value": spelled, "level": events.INFO}

    def add(self, kind: str, value: str, signed: Signed, *, seen: int | None = None) -> Record:
        """Grant something to every plan; `seen` is where the list stood that was looked at."""
        data, version = self.content(kind, value), self._read_version()
        if seen is not None:
            self._refuse_if_changed(data, seen)
        event = Event(type=events.GLOBAL_GRANT_ADDED, actor="operator", data=data, subject=SUBJECT)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        (record,) = self.ledger.append([event], expect={SUBJECT: version})
        self._export_or_leave_due()
        return record

    def newest(self) -> int:
        """Name the record that changed the list last, or 0."""
        record = self.ledger.newest(*_CHANGES)
        return record.sequence if record else 0

    def _refuse_if_changed(self, data: dict[str, Any], seen: int) -> None:
        changes = self.ledger.records(*_CHANGES, after=seen, limit=END, newest_first=True)
        for record in changes:
            if (record.data["kind"], record.data["value"]) == (data["kind"], data["value"]):
                raise unseen.unseen_change_error(f"{data['kind']} {data['value'][:200]!r}", record)

    def remove(self, kind: str, value: str, *, actor: str) -> Record:
        items = [(item["kind"], item["value"]) for item in self.list_grants()]
        if (kind, value) not in items:
            raise NotFound(f"{kind} {value[:200]!r} is not granted", next_step="astra grants list")
        data = {"kind": kind, "value": value, "level": events.INFO}
        event = Event(type=events.GLOBAL_GRANT_REMOVED, actor=actor, data=data, subject=SUBJECT)
        (record,) = self.ledger.append([event])
        self._export_or_leave_due()
        return record

    def _export_or_leave_due(self) -> None:
        """Write the file; on a full disk the change stands without it, and the step stays due."""
        with contextlib.suppress(OSError, LedgerUnavailable):
            self.export()

    def export(self) -> None:
        """Write the file as the ledger says now, and note that it was written."""
        version = self._read_version()
        self.files.write_allowlist(self.render_file())
        data = {"level": events.INFO, "version": version}
        event = Event(type=events.ALLOWLIST_EXPORTED, actor=events.DAEMON, data=data)
        try:
            self.ledger.append([event], expect={SUBJECT: version})
        except StaleVersion:
            self.export()

    def watch(self) -> None:
        """Put the file right when somebody changed it, and say so; it grants nothing either way."""
        rows = self.ledger.query("SELECT version FROM allowlist_export")
        if rows and rows[0][0] == _UNSAID != self._read_version():
            self.export()
        elif not rows or rows[0][0] != self._read_version():
            return  # nothing was exported yet, or the next export is due
        if self.files.read_allowlist() != self.render_file():
            data = {"level": events.WARNING, "reason": "its file was not what was exported"}
            self.ledger.append(
                [Event(type=events.ALLOWLIST_TAMPERED, actor=events.DAEMON, data=data)]
            )
            self.files.write_allowlist(self.render_file())

    def _read_version(self) -> int:
        return self.ledger.version(SUBJECT)

    def render_file(self) -> str:
        kinds = {
            kind: [item["value"] for item in self.list_grants() if item["kind"] == kind]
            for kind in GRANT_KINDS
        }
        return canonical.encode(kinds).decode() + "\n"


def _project_record(record: Record) -> Iterator[Statement]:
    if record.type == events.ALLOWLIST_EXPORTED:
        yield "INSERT OR REPLACE INTO allowlist_export VALUES (1, ?)", (record.data["version"],)
        return
    item = (record.data["kind"], record.data["value"])
    yield "DELETE FROM global_grant WHERE kind = ? AND value = ?", item
    if record.type == events.GLOBAL_GRANT_ADDED:
        yield "INSERT INTO global_grant VALUES (?, ?, ?)", (*item, record.sequence)


PROJECTION = Projection(
    "global grants",
    (
        """CREATE TABLE global_grant (
            kind TEXT, value TEXT, sequence INTEGER, PRIMARY KEY (kind, value)
        ) WITHOUT ROWID""",
        "CREATE TABLE allowlist_export (id INTEGER PRIMARY KEY, version INTEGER)",
    ),
    _project_record,
    types=frozenset(
        {events.GLOBAL_GRANT_ADDED, events.GLOBAL_GRANT_REMOVED, events.ALLOWLIST_EXPORTED}
    ),
)
