"""Standing permissions for changes: these paths, under these conditions, so often, until then.

The operator signs all of it, the sentence that says it in plain words included, and the signature
is checked at every use. What it is for is a closed form: paths that are named, a size, a share of
mutants that tests notice, whether the deployment is covered too, and where it is signed together
with a plan, that plan alone. That tests passed and that
nothing dangerous was found is never left out (`permission_checks` decides from the commit itself
and from evidence that the server gathered).

A use is a record in the batch that approves the change, on the version of the permission that was
looked at. Two changes cannot both take the last use, and one that was removed meanwhile covers
nothing. What was signed before the operator accepted the clock, or before a restore, is void, and
so is what was signed with a plan that was ended, rejected or changed since.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from astra.trusted.changes.model import Change
from astra.trusted.kernel.clock import format_time, show_time
from astra.trusted.kernel.errors import BadInput, NotFound
from astra.trusted.kernel.ids import id_kind, is_id, random_id
from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.projection import Projection, Statement
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority, globs, paths, standing
from astra.trusted.policy.authority import Signed

ADDED, USED = "merge_permission_added", "merge_permission_used"
REMOVED = "merge_permission_removed"
PREFIX = "merge"
TERM = "permission"
"""The term of an approved change that names the permission."""
MOST_USES, MOST_PATHS, MOST_FILES, MOST_LINES, ALL_MUTANTS = 20, 20, 20, 1_000, 100
LONGEST = timedelta(days=7)
_BOUNDS = {
    "uses": (1, MOST_USES),
    "most_files": (1, MOST_FILES),
    "most_lines": (1, MOST_LINES),
    "mutants": (0, ALL_MUTANTS),
}
_MEMBERS = frozenset({"permission", "paths", "until", "deploy", "plan", "words", *_BOUNDS})
_PLAN_ENDS = ("agent_aborted", "agent_plan_rejected", "agent_plan_revised")
_SELECT = (
    "SELECT merge_permission.used, merge_permission.removed, line FROM merge_permission"
    " JOIN record USING (sequence) WHERE "
)


@dataclass(frozen=True, kw_only=True)
class MergePermission:
    id: str
    paths: tuple[str, ...]
    most_files: int
    most_lines: int
    mutants: int
    """How many of a hundred mutants tests have to notice; 0 where none are asked for."""
    deploy: bool
    plan: str
    """The plan whose changes alone it covers; any where it is empty."""
    words: str
    until: str
    uses: int
    used: int
    added_at: str
    state: str
    """`usable`, or why it is not: `expired`, `used_up`, `removed`, `void`."""

    @property
    def version(self) -> int:
        """How many records there are about it, as it was read: its beginning and its uses."""
        return 1 + self.used

    @property
    def left(self) -> int:
        return max(self.uses - self.used, 0)

    def as_dict(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "paths": list(self.paths), "left": self.left}


def list_usable(ledger: Ledger, *, now: datetime) -> list[MergePermission]:
    """Give the permissions that are signed, in time and not used up, the oldest first."""
    rows = ledger.query(f"{_SELECT} until > ? ORDER BY sequence", [format_time(now)])
    merge_permissions = [_read_row(ledger, row, now) for row in rows]
    return [permission for permission in merge_permissions if permission.state == "usable"]


def list_all(ledger: Ledger, *, now: datetime) -> list[MergePermission]:
    rows = ledger.query(f"{_SELECT} sequence > 0 ORDER BY sequence")
    return [_read_row(ledger, row, now) for row in rows]


def find_use_objection(ledger: Ledger, change: Change, *, now: datetime) -> str:
    """Say why the permission that an approved change names covers it no longer, or nothing."""
    identifier = str(change.terms[TERM])
    rows = ledger.query(f"{_SELECT} id = ?", [identifier])
    if not rows:
        return f"there is no permission {identifier}"
    permission = _read_row(ledger, rows[0], now)
    if permission.state not in {"usable", "used_up"}:
        return f"the permission {identifier} is {permission.state}"
    if change.terms.get("deploy") and not permission.deploy:
        return f"the permission {identifier} covers no deployment"
    uses = ledger.records_of(identifier, USED)
    if any((use.data["change"], use.data["commit"]) == (change.id, change.commit) for use in uses):
        return ""
    return f"the permission {identifier} was not used for this commit"


def draft_content(
    *,
    paths: Sequence[str],
    until: str,
    uses: int,
    most_files: int,
    most_lines: int,
    mutants: int,
    deploy: bool,
    now: datetime,
    plan: str = "",
) -> dict[str, Any]:
    """Give what an operator signs, in its one spelling; refuse what is too wide."""
    content: dict[str, Any] = {
        "permission": random_id(PREFIX),
        "paths": sorted(set(paths)),
        "until": until,
        "uses": uses,
        "most_files": most_files,
        "most_lines": most_lines,
        "mutants": mutants,
        "deploy": deploy,
        "plan": plan,
    }
    content["words"] = _describe(content) if _has_bounds(content) else ""
    _refuse_wide(content, now)
    return content


def add(ledger: Ledger, content: Mapping[str, Any], signed: Signed, *, now: datetime) -> Record:
    """Record a permission that the operator signed."""
    _refuse_wide(content, now)
    identifier = str(content["permission"])
    event = Event(type=ADDED, actor="operator", data=dict(content), subject=identifier)
    event = authority.signed_event(ledger, event, signed, now=now)
    (record,) = ledger.append([event], expect={identifier: 0})
    return record


def remove(ledger: Ledger, identifier: str, *, actor: str) -> Record:
    """Take a permission back; that is free, and bites at once."""
    if not ledger.query(f"{_SELECT} id = ?", [identifier]):
        raise NotFound("there is no such permission", next_step="astra permissions list")
    event = Event(type=REMOVED, actor=actor, data={"permission": identifier}, subject=identifier)
    (record,) = ledger.append([event])
    return record


def build_used_event(permission: MergePermission, change: Change) -> Event:
    return Event(
        type=USED,
        actor="daemon",
        data={
            "permission": permission.id,
            "use": permission.used + 1,
            "change": change.id,
            "commit": change.commit,
            "deploy": permission.deploy,
            "words": permission.words,
        },
        correlation=change.correlation,
        subject=permission.id,
    )


def _describe(content: Mapping[str, Any]) -> str:
    """Say all of a permission in one sentence; the operator signs it with the rest."""
    covered = "merged and deployed" if content["deploy"] else "merged"
    mutants = content["mutants"]
    conditions = [
        "if all tests passed",
        *([f"tests notice at least {mutants} % of its mutants"] if mutants else []),
        "nothing dangerous was found",
        f"it touches at most {content['most_files']} files and {content['most_lines']} lines",
    ]
    if content["deploy"]:
        conditions += ["its release runs well in staging first", "a proven release can be put back"]
    of_plan = f" of the plan {content['plan']}" if content["plan"] else ""
    return (
        f"A change{of_plan} that touches nothing but {', '.join(content['paths'])} is {covered}"
        f" without asking me, at most {content['uses']} times until {show_time(content['until'])},"
        f" {', '.join(conditions[:-1])} and {conditions[-1]}. Tests, dependencies, configuration,"
        " protected paths and the trusted core are never covered."
    )


def _refuse_wide(content: Mapping[str, Any], now: datetime) -> None:
    if frozenset(content) != _MEMBERS or not is_id(str(content["permission"])):
        raise _build_refusal("a permission has missing or unknown parts")
    for name, (least, most) in _BOUNDS.items():
        if not _is_within(content[name], least, most):
            raise _build_refusal(f"{name.replace('_', ' ')}: give {least} to {most}")
    if not isinstance(content["deploy"], bool):
        raise _build_refusal("deploy is true or false")
    if content["plan"] != "" and not _is_plan(content["plan"]):
        raise _build_refusal("plan is the id of a plan, or empty")
    _refuse_wide_paths(content["paths"])
    if not now < standing.parse_until(content["until"], _build_refusal) <= now + LONGEST:
        raise _build_refusal(f"a permission ends within {LONGEST.days} days")
    if content["words"] != _describe(content):
        raise _build_refusal("its sentence does not say what it permits")


def _has_bounds(content: Mapping[str, Any]) -> bool:
    return all(_is_within(content[name], *bounds) for name, bounds in _BOUNDS.items())


def _is_within(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _refuse_wide_paths(value: Any) -> None:
    if not isinstance(value, list) or not 1 <= len(cast("list[Any]", value)) <= MOST_PATHS:
        raise _build_refusal(f"name 1 to {MOST_PATHS} paths")
    patterns = cast("list[Any]", value)
    if patterns != sorted(set(patterns)):
        raise _build_refusal("each path is named once, in order")
    for pattern in patterns:
        _refuse_wide_pattern(pattern)


def _refuse_wide_pattern(pattern: Any) -> None:
    """Let in a file, a folder or a glob below a named folder, in its normal form."""
    if not isinstance(pattern, str) or not pattern.isprintable():
        raise _build_refusal("a path is a text of printable characters")
    first = pattern.partition("/")[0]
    if not first or globs.has_wildcard(first):
        raise _build_refusal(f"{paths.quote(pattern)} names no folder or file: begin with one")
    plain = pattern.rstrip("/")
    if globs.has_wildcard(plain):
        globs.parse_glob(plain)
    elif paths.parse_relative(plain).text != plain:
        raise _build_refusal(f"{paths.quote(pattern)} is not in its normal form")


def _is_plan(value: Any) -> bool:
    return isinstance(value, str) and is_id(value) and id_kind(value) == "plan"


def _build_refusal(detail: str) -> BadInput:
    return BadInput(detail, code="bad_permission", next_step="astra permissions add-merge --help")


def _read_row(ledger: Ledger, row: tuple[Any, ...], now: datetime) -> MergePermission:
    used, is_removed, line = row
    record = chain.parse(line)
    data = record.data
    permission = MergePermission(
        id=str(record.subject),
        paths=tuple(data["paths"]),
        most_files=data["most_files"],
        most_lines=data["most_lines"],
        mutants=data["mutants"],
        deploy=data["deploy"],
        plan=data.get("plan", ""),
        words=data["words"],
        until=data["until"],
        uses=data["uses"],
        used=used,
        added_at=record.time,
        state="removed" if is_removed else "usable",
    )
    return permission if is_removed else _judge(ledger, permission, record, now)


def _judge(
    ledger: Ledger, permission: MergePermission, record: Record, now: datetime
) -> MergePermission:
    if _is_plan_over(ledger, permission, record):
        return replace(permission, state="void")
    state = standing.judge(ledger, record, until=permission.until, left=permission.left, now=now)
    return replace(permission, state=state)


def _is_plan_over(ledger: Ledger, permission: MergePermission, record: Record) -> bool:
    """Tell whether the plan that it was signed with was ended, rejected or changed since."""
    if not permission.plan:
        return False
    ends = ledger.records_of(permission.plan, *_PLAN_ENDS)
    return any(end.sequence > record.sequence for end in ends)


def _apply_record(record: Record) -> Iterator[Statement]:
    if record.type == ADDED:
        yield (
            "INSERT OR IGNORE INTO merge_permission VALUES (?, ?, 0, 0, ?)",
            (record.subject, record.data["until"], record.sequence),
        )
    elif record.type == USED:
        yield "UPDATE merge_permission SET used = used + 1 WHERE id = ?", (record.subject,)
    else:
        yield "UPDATE merge_permission SET removed = 1 WHERE id = ?", (record.subject,)


PROJECTION = Projection(
    "merge_permissions",
    (
        """CREATE TABLE merge_permission (
            id TEXT PRIMARY KEY, until TEXT, used INTEGER, removed INTEGER, sequence INTEGER
        ) WITHOUT ROWID""",
        "CREATE INDEX merge_permission_until ON merge_permission (until)",
        "CREATE INDEX merge_permission_order ON merge_permission (sequence)",
    ),
    _apply_record,
    types=frozenset({ADDED, USED, REMOVED}),
)
