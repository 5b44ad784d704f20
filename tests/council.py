"""Several operators of a data root in memory, who enrol, sign and remove each other."""

from dataclasses import dataclass, field
from typing import Any

from astra.testing import RootInMemory
from astra.trusted.approvals.desk import Desk
from astra.trusted.approvals.views import content as approval_content
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority, enlisting, operators
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.operators import Council

FULL_ROLE: dict[str, Any] = {"duties": ["everything"], "tier": 2, "paths": []}
REVIEWER: dict[str, Any] = {"duties": ["approve:change"], "tier": 1, "paths": []}


def make_role(*duties: str, tier: int = 2, paths: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"duties": sorted(duties), "tier": tier, "paths": sorted(paths)}


@dataclass
class People:
    """A data root, and the keys of its operators by name."""

    root: RootInMemory = field(default_factory=RootInMemory)
    keys: dict[str, KeyPair] = field(default_factory=dict[str, KeyPair])

    def __post_init__(self) -> None:
        self.keys["owner"] = self.root.operator
        self.ledger = self.root.ledger
        self.desk = Desk(self.ledger, self.root.time)

    @property
    def council(self) -> Council:
        return authority.find_keys(self.ledger)

    @property
    def names(self) -> list[str]:
        return [operator.name for operator in self.council.operators]

    def sign(self, by: str, action: str, content: dict[str, Any]) -> Signed:
        return self.root.sign(action, content, self.keys[by])

    def change(self, by: str, action: str, content: dict[str, Any]) -> Record:
        signed = self.sign(by, action, content)
        return enlisting.record_change(
            self.ledger, action, content, signed, now=self.root.clock.now()
        )

    def request(self, name: str, key: KeyPair | None = None) -> dict[str, Any]:
        self.keys.setdefault(name, key or KeyPair.generate())
        pair = key or self.keys[name]
        document = enlisting.build_request(self.root.root_id, name, pair)
        return enlisting.read_request(document, root_id=self.root.root_id)

    def enrol(self, name: str, role: dict[str, Any] | None = None, *, by: str = "owner") -> Record:
        content = {**self.request(name), "role": role or FULL_ROLE}
        return self.change(by, operators.ENROLLED, content)

    def remove(self, name: str, *, by: str = "owner") -> Record:
        return self.change(by, operators.REMOVED, {"name": name})

    def set_rules(self, *, by: str = "owner", separate: bool = False, **quorum: int) -> Record:
        counts = {"configuration": 1, "operators": 1, "protected": 1, **quorum}
        content = {"quorum": counts, "separate_approver": separate}
        return self.change(by, operators.RULES_SET, content)

    def record(self, by: str, action: str, content: dict[str, Any]) -> Record:
        """Record a signed decision of any kind, as the parts that decide do."""
        event = Event(type=action, actor="operator", data=content)
        signed = self.sign(by, action, content)
        now = self.root.clock.now()
        (record,) = self.ledger.append(
            [authority.signed_event(self.ledger, event, signed, now=now)]
        )
        return record

    def holds(self, record: Record) -> bool:
        return authority.is_signed_by_operator(self.ledger, record)

    def ask(
        self,
        *,
        kind: str = "change",
        subject: str = "chg_00000001",
        actor: str = "agent:test",
        **details: Any,
    ) -> str:
        """Ask for an approval, as the server does."""
        return self.desk.ask(
            kind=kind,
            subject_id=subject,
            digest=f"{len(self.ledger.lines):064x}",
            summary="merge it",
            details={"files": [{"path": "src/a.py"}], "protected": [], **details},
            actor=actor,
            correlation="cor_0000000000000001",
        )

    def approve(self, identifier: str, *, by: str, **terms: Any) -> Record:
        content = approval_content(self.desk.get(identifier), terms or None)
        return self.desk.grant(identifier, self.sign(by, "approval_granted", content))
