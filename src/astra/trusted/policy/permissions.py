"""Standing permissions: this tool, at this host, with this method, so often, until then.

A one-time approval is for one call. A standing permission is for calls that differ in nothing but
what they ask one host for. The operator signs all of it, and the signature is checked at every use.
It covers only a lone call of the agent (no schedule, no plan) that reaches the one host and touches
nothing else: no path, no file, no skill, nothing destructive, nothing that loosens. So it can never
stand for a deployment or a protected path.

A use is a record in the batch of the start it was for, on the version of the permission that was
looked at. Two calls cannot both take the last use, and one that was removed meanwhile is refused.
What was signed before the operator accepted the clock, or before a restore, covers nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from astra.trusted.kernel.clock import format_time, show_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import is_id, random_id
from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority, standing
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Call, Footprint, Role, Tier
from astra.trusted.policy.domains import parse_grant

ADDED, USED = "standing_permission_added", "standing_permission_used"
REMOVED = "standing_permission_removed"
MOST_USES = 100
LONGEST = timedelta(days=7)
DEFAULT_METHOD = "GET"
NEVER = frozenset({"deploy_agent_code"})
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_MEMBERS = frozenset({"permission", "tool", "host", "method", "until", "uses"})
_SELECT = (
    "SELECT permission.used, permission.removed, line FROM permission"
    " JOIN record USING (sequence) WHERE "
)


@dataclass(frozen=True, kw_only=True)
class Permission:
    id: str
    tool: str
    host: str
    method: str
    until: str
    uses: int
    used: int
    added_at: str
    state: str
    """`usable`, or why it is not: `expired`, `used_up`, `removed`, `void`."""

    @property
    def version(self) -> int:
        """How many records there are about it, as it was read: its beginning and its uses.

        A use or a removal since then makes another version, and the ledger refuses the start.
        """
        return 1 + self.used

    @property
    def left(self) -> int:
        return max(self.uses - self.used, 0)

    def __str__(self) -> str:
        until = show_time(self.until)
        return f"{self.tool} {self.method} {self.host}, {self.left} more until {until} ({self.id})"

    def as_dict(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "left": self.left}


def find_covering(ledger: Ledger, call: Call, *, now: datetime) -> Permission | None:
    """Give a permission that covers exactly such a call now, or nothing."""
    if not _may_be_covered(call):
        return None
    for permission in list_usable(ledger, call.tool, now=now):
        if call.footprint.domains == (permission.host,) and read_method(call) == permission.method:
            return permission
    return None


def describe_usable(ledger: Ledger, call: Call, *, now: datetime) -> str:
    """Name the smaller calls of the same tool that would pass without asking anybody."""
    usable = list_usable(ledger, call.tool, now=now) if call.tier is Tier.EXTERNAL else []
    return f"; without asking you may call: {'; '.join(map(str, usable))}" if usable else ""


def list_usable(ledger: Ledger, tool: str, *, now: datetime) -> list[Permission]:
    """Give the permissions for a tool that are signed, in time and not used up."""
    rows = ledger.query(
        f"{_SELECT} tool = ? AND until > ? ORDER BY sequence", [tool, format_time(now)]
    )
    permissions = [_read_row(ledger, row, now) for row in rows]
    return [permission for permission in permissions if permission.state == "usable"]


def list_all(ledger: Ledger, *, now: datetime) -> list[Permission]:
    rows = ledger.query(f"{_SELECT} sequence > 0 ORDER BY sequence")
    return [_read_row(ledger, row, now) for row in rows]


def draft_content(
    *, tool: str, host: str, method: str, until: str, uses: int, now: datetime
) -> dict[str, Any]:
    """Give what an operator signs, in its one spelling; refuse what is too wide."""
    content = {
        "permission": random_id("perm"),
        "tool": tool,
        "host": str(parse_grant(host)),
        "method": method.upper(),
        "until": until,
        "uses": uses,
    }
    _refuse_wide(content, now)
    return content


def add(ledger: Ledger, content: Mapping[str, Any], signed: Signed, *, now: datetime) -> Record:
    """Record a permission that the operator signed."""
    _refuse_wide(content, now)
    event = Event(
        type=ADDED, actor="operator", data=dict(content), subject=str(content["permission"])
    )
    event = authority.signed_event(ledger, event, signed, now=now)
    (record,) = ledger.append([event], expect={str(content["permission"]): 0})
    return record


def remove(ledger: Ledger, identifier: str, *, actor: str) -> Record:
    """Take a permission back; that is free, and bites at once."""
    if not ledger.query(f"{_SELECT} id = ?", [identifier]):
        raise NotFound("there is no such permission", next_step="astra permissions list")
    event = Event(type=REMOVED, actor=actor, data={"permission": identifier}, subject=identifier)
    (record,) = ledger.append([event])
    return record


def build_used_event(permission: Permission, call: Call) -> Event:
    return Event(
        type=USED,
        actor=str(call.actor),
        data={"permission": permission.id, "use": permission.used + 1},
        correlation=call.correlation,
        subject=permission.id,
    )


def read_method(call: Call) -> str:
    return str(call.arguments.get("method") or DEFAULT_METHOD).upper()


def _may_be_covered(call: Call) -> bool:
    """Tell whether a call is a lone one that reaches one host and touches nothing else."""
    is_lone = not call.schedule_id and not call.plan_id
    return (
        call.tier is Tier.EXTERNAL
        and call.tool not in NEVER
        and call.actor.role is Role.AGENT
        and is_lone
        and not call.loosens
        and call.footprint == Footprint(domains=call.footprint.domains)
        and len(call.footprint.domains) == 1
    )


def _refuse_wide(content: Mapping[str, Any], now: datetime) -> None:
    if frozenset(content) != _MEMBERS or not is_id(str(content["permission"])):
        raise _build_refusal("a permission has missing or unknown parts")
    if content["tool"] in NEVER:
        raise _build_refusal(f"{content['tool']} takes your signature each time")
    host = parse_grant(str(content["host"]))
    if host.below or str(host) != content["host"]:
        raise _build_refusal(f"{host} names more than one host")
    if content["method"] not in METHODS:
        raise _build_refusal(f"the method is one of {', '.join(METHODS)}")
    uses = content["uses"]
    if not isinstance(uses, int) or isinstance(uses, bool) or not 1 <= uses <= MOST_USES:
        raise _build_refusal(f"a permission is for 1 to {MOST_USES} calls")
    if not now < standing.parse_until(content["until"], _build_refusal) <= now + LONGEST:
        raise _build_refusal(f"a permission ends within {LONGEST.days} days")


def _build_refusal(detail: str) -> BadInput:
    return BadInput(detail, code="bad_permission", next_step="astra permissions add --help")


def _read_row(ledger: Ledger, row: tuple[Any, ...], now: datetime) -> Permission:
    used, is_removed, line = row
    record = chain.parse(line)
    data = record.data
    permission = Permission(
        id=str(record.subject),
        tool=data["tool"],
        host=data["host"],
        method=data["method"],
        until=data["until"],
        uses=data["uses"],
        used=used,
        added_at=record.time,
        state="removed" if is_removed else "usable",
    )
    if is_removed:
        return permission
    state = standing.judge(ledger, record, until=permission.until, left=permission.left, now=now)
    return replace(permission, state=state)


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == ADDED:
        yield (
            "INSERT OR IGNORE INTO permission VALUES (?, ?, ?, 0, 0, ?)",
            (record.subject, record.data["tool"], record.data["until"], record.sequence),
        )
    elif record.type == USED:
        yield "UPDATE permission SET used = used + 1 WHERE id = ?", (record.subject,)
    else:
        yield "UPDATE permission SET removed = 1 WHERE id = ?", (record.subject,)


PROJECTION = Projection(
    "permissions",
    (
        """CREATE TABLE permission (
            id TEXT PRIMARY KEY, tool TEXT, until TEXT, used INTEGER, removed INTEGER,
            sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX permission_tool ON permission (tool, until)",
        "CREATE INDEX permission_order ON permission (sequence)",
    ),
    _apply_record,
    types=frozenset({ADDED, USED, REMOVED}),
)
