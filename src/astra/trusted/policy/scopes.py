"""What a statement is about: which duty it takes, its tier and paths, and how many sign it.

An approval is about what its request says, which the server wrote before anybody signed. What is
not known counts as the most: an action that is not named here takes every duty, an approval whose
request is not found too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from astra.trusted.kernel.ids import is_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import ARCHIVED, Record
from astra.trusted.ledger.timekeeping import CLOCK_ACCEPTED
from astra.trusted.policy.call import Tier

EVERYTHING = "everything"
CONFIGURATION, OPERATORS, PROTECTED = "configuration", "operators", "protected"
QUORUMS = (CONFIGURATION, OPERATORS, PROTECTED)
"""What rules may ask more than one signature for."""
DUTIES: Mapping[str, str] = MappingProxyType(
    {
        EVERYTHING: "all of these, and what later versions add",
        "approve": "every kind of request; `approve:change` is for one kind",
        "flags": "turning a flag on",
        "start": "letting work start again after a stop",
        "deploy": "deploying and rolling back",
        "work": "goals, silenced alerts, the readiness list, dry runs",
        "plans": "granting, resuming and extending plans that run",
        "permissions": "standing permissions and the global allowlist",
        CONFIGURATION: "astra.toml, the tools of other servers, running without a sandbox",
        "tokens": "tokens for programs",
        "recovery": "accepting the clock, going on from a restore, archiving months",
        OPERATORS: "enrolling and removing operators, their roles and OS users",
    }
)
APPROVAL_GRANTED, APPROVAL_REQUESTED = "approval_granted", "approval_requested"
DEPLOY_ORDERED = "deployment_ordered"
_ENROLLED, _REMOVED, _ROLE_SET = "operator_enrolled", "operator_removed", "operator_role_set"
_USERS_SET = "operator_users_set"
_OWN = ("operator_key_rotated", "passkey_enrolled")
"""What every operator does for themself: their own next key, a passkey with their own role."""
_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "flag_set": "flags",
        "work_started": "start",
        DEPLOY_ORDERED: "deploy",
        "rollback_ordered": "deploy",
        "goal_created": "work",
        "alert_silenced": "work",
        "dry_run_approved": "work",
        "readiness_matrix_recorded": "work",
        "readiness_signed_off": "work",
        "agent_resumed": "plans",
        "agent_permission_granted": "plans",
        "agent_action_confirmed": "plans",
        "agent_budget_extended": "plans",
        "agent_step_retried": "plans",
        "agent_global_grant_added": "permissions",
        "standing_permission_added": "permissions",
        "merge_permission_added": "permissions",
        "config_signed": CONFIGURATION,
        "sandbox_off_allowed": CONFIGURATION,
        "server_tools_accepted": CONFIGURATION,
        "token_created": "tokens",
        CLOCK_ACCEPTED: "recovery",
        ARCHIVED: "recovery",
        "ledger_restored": "recovery",
        _ENROLLED: OPERATORS,
        _REMOVED: OPERATORS,
        _ROLE_SET: OPERATORS,
        _USERS_SET: OPERATORS,
    }
)
_ANY_PATH = frozenset({"plans", "permissions"})
_QUORUM_OF: Mapping[str, str] = MappingProxyType(
    {
        "config_signed": CONFIGURATION,
        "sandbox_off_allowed": CONFIGURATION,
        _ENROLLED: OPERATORS,
        _REMOVED: OPERATORS,
        _ROLE_SET: OPERATORS,
        _USERS_SET: OPERATORS,
        "operator_rules_set": OPERATORS,
    }
)
_CALLS = frozenset({"tool_call", "schedule"})
_CHANGES = frozenset({"change", "sync"})


@dataclass(frozen=True, kw_only=True)
class Scope:
    duty: str
    """Nothing where every operator may."""
    also: tuple[str, ...] = ()
    """Duties that it takes besides."""
    tier: int = int(Tier.READ)
    paths: tuple[str, ...] | None = ()
    """What it touches; None where that cannot be known."""
    quorum: str = ""
    about_operator: str = ""
    is_removal: bool = False
    role: Any = None
    """The role that it gives, as it was signed."""
    users: Any = None
    """The OS users that it says are an operator's, as it was signed."""
    asked: Record | None = None
    """The record of whoever asked for it first, where it was asked for."""
    asked_by: str = ""
    asks_unseen: bool = False
    """Whether some operator asked for it, and nobody can tell which."""


UNKNOWN = Scope(duty=EVERYTHING, tier=int(Tier.EXTERNAL), paths=None)


def read_scope(ledger: Ledger, action: str, content: Mapping[str, Any], *, before: int) -> Scope:
    """Work out what a statement is about, from itself and the request that it answers."""
    if action == APPROVAL_GRANTED:
        return _read_approval_scope(ledger, content, before)
    if action in _OWN:
        return Scope(duty="")
    duty = _ACTIONS.get(action, EVERYTHING)
    quorum = _QUORUM_OF.get(action, "")
    if action == DEPLOY_ORDERED and content.get("force"):
        quorum = PROTECTED
    is_wide = duty in _ANY_PATH or duty == EVERYTHING
    return Scope(
        duty=duty,
        also=("deploy",) if duty == "permissions" and content.get("deploy") else (),
        tier=int(Tier.EXTERNAL) if is_wide else int(Tier.READ),
        paths=None if is_wide else (),
        quorum=quorum,
        about_operator=str(content.get("name", "")) if duty == OPERATORS else "",
        is_removal=action == _REMOVED,
        role=content.get("role") if duty == OPERATORS else None,
        users=content.get("users") if action == _USERS_SET else None,
    )


def _read_approval_scope(ledger: Ledger, content: Mapping[str, Any], before: int) -> Scope:
    identifier = str(content.get("approval", ""))
    requests = ledger.records_of(identifier, APPROVAL_REQUESTED)
    if not requests or requests[0].sequence >= before:
        return UNKNOWN
    request = requests[0]
    kind, details = str(request.data["kind"]), cast("dict[str, Any]", request.data["details"])
    terms: Any = content.get("terms") or {}
    return Scope(
        duty=f"approve:{kind}",
        also=("deploy",) if terms.get("deploy") else (),
        tier=_read_tier(kind, details),
        paths=_read_paths(kind, details),
        quorum=PROTECTED if details.get("protected") else "",
        asked=_find_asking_record(ledger, request),
    )


def _read_tier(kind: str, details: Mapping[str, Any]) -> int:
    if kind in _CHANGES:
        return int(Tier.LOCAL_WRITE)
    tier = details.get("tier") if kind in _CALLS else None
    return tier if type(tier) is int else int(Tier.EXTERNAL)


def _read_paths(kind: str, details: Mapping[str, Any]) -> tuple[str, ...] | None:
    if kind in _CHANGES:
        return tuple(_list_files(details.get("files", ())))
    footprint: Any = details.get("footprint") if kind in _CALLS else None
    if not isinstance(footprint, dict):
        return None
    touched = cast("dict[str, Any]", footprint)
    return (*touched.get("read_paths", ()), *touched.get("write_paths", ()))


def _list_files(files: Any) -> Iterator[str]:
    """Give the path of each file; a change describes its files, a sync names them."""
    for file in cast("list[Any]", files):
        yield str(cast("dict[str, Any]", file)["path"] if isinstance(file, dict) else file)


def _find_asking_record(ledger: Ledger, request: Record) -> Record:
    """Give the record in which somebody asked: the first about the thing, else the request."""
    subject = str(request.data["subject_id"])
    mentions = ledger.find_mentions(subject, limit=1) if is_id(subject) else []
    return mentions[0] if mentions else request
