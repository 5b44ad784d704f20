"""What is recorded about plans.

Everything a plan does carries its correlation, so that its night is one story; what comes in pairs
(asked and answered, paused and resumed, started and completed, sent and received) shares it. Each
record has the plan's `agent_id` and a `level`.

The names of each family are frozen sets. `DECISION_EVENTS` are the six decisions about plans and
about the global allowlist (`PHASE3_STEP8_EVENTS` is their earlier name); `RUNNER_EVENTS` are the
ten that tell the story of a run; `PLAN_EVENTS` are all there are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from astra.plans.schema import Plan
from astra.plans.states import State
from astra.trusted.ledger.record import Event

DRAFTED, APPROVED = "agent_plan_drafted", "agent_plan_approved"
REJECTED, REVISED = "agent_plan_rejected", "agent_plan_revised"
GLOBAL_GRANT_ADDED, GLOBAL_GRANT_REMOVED = "agent_global_grant_added", "agent_global_grant_removed"
DECISION_EVENTS = frozenset(
    {DRAFTED, APPROVED, REJECTED, REVISED, GLOBAL_GRANT_ADDED, GLOBAL_GRANT_REMOVED}
)
PHASE3_STEP8_EVENTS = DECISION_EVENTS
"""An alias: programs of earlier designs import this name."""

STARTED, COMPLETED, ABORTED = "agent_started", "agent_completed", "agent_aborted"
CHECKPOINT_STARTED = "agent_checkpoint_started"
CHECKPOINT_COMPLETED = "agent_checkpoint_completed"
PAUSED, RESUMED = "agent_paused", "agent_resumed"
BLOCKED_ON_PERMISSION = "agent_blocked_on_permission"
MESSAGE_SENT, MESSAGE_RECEIVED = "agent_message_sent", "agent_message_received"
RUNNER_EVENTS = frozenset(
    {
        STARTED,
        CHECKPOINT_STARTED,
        CHECKPOINT_COMPLETED,
        PAUSED,
        RESUMED,
        BLOCKED_ON_PERMISSION,
        COMPLETED,
        ABORTED,
        MESSAGE_SENT,
        MESSAGE_RECEIVED,
    }
)

REQUESTED, FAILED = "agent_plan_requested", "agent_plan_failed"
QUESTIONED, ANSWERED = "agent_plan_questioned", "agent_plan_answered"
DRAFTING_RETRIED = "agent_plan_drafting_retried"
FILES_EXPORTED = "agent_files_exported"
ALLOWLIST_EXPORTED = "agent_global_grants_exported"
ALLOWLIST_TAMPERED = "agent_global_grants_tampered"
HOSTS_LOOKED_UP = "agent_hosts_looked_up"
DRAFTING_EVENTS = frozenset({REQUESTED, FAILED, QUESTIONED, ANSWERED, DRAFTING_RETRIED})
FILE_EVENTS = frozenset({FILES_EXPORTED, ALLOWLIST_EXPORTED, ALLOWLIST_TAMPERED})

BLOCKED_ON_DESTRUCTIVE = "agent_blocked_on_destructive"
BLOCKED_ON_BUDGET, BLOCKED_ON_LLM = "agent_blocked_on_budget", "agent_blocked_on_llm"
STEP_STARTED, STEP_DECIDED = "agent_step_started", "agent_step_decided"
ACTION_STARTED, STEP_FINISHED = "agent_action_started", "agent_step_finished"
MODEL_FAILED, OVERRAN = "agent_model_failed", "agent_overran"
PERMISSION_GRANTED, ACTION_CONFIRMED = "agent_permission_granted", "agent_action_confirmed"
ACTION_SKIPPED, BUDGET_EXTENDED = "agent_action_skipped", "agent_budget_extended"
SILENCED, NOTIFIED = "agent_silenced", "agent_notified"
STEP_RETRIED = "agent_step_retried"
CODER_CALLED, USAGE_COUNTED = "agent_coder_called", "agent_usage_counted"
STEP_EVENTS = frozenset(
    {
        BLOCKED_ON_DESTRUCTIVE,
        BLOCKED_ON_BUDGET,
        BLOCKED_ON_LLM,
        STEP_STARTED,
        STEP_DECIDED,
        ACTION_STARTED,
        STEP_FINISHED,
        MODEL_FAILED,
        OVERRAN,
        PERMISSION_GRANTED,
        ACTION_CONFIRMED,
        ACTION_SKIPPED,
        BUDGET_EXTENDED,
        STEP_RETRIED,
        SILENCED,
        NOTIFIED,
        CODER_CALLED,
        USAGE_COUNTED,
    }
)
PLAN_EVENTS = DECISION_EVENTS | RUNNER_EVENTS | DRAFTING_EVENTS | FILE_EVENTS | STEP_EVENTS
INFO, WARNING = "info", "warning"
DAEMON = "daemon"


@dataclass(frozen=True)
class Kind:
    """One kind of record about a plan: the state it leads to, if any, and its level."""

    name: str
    then: State | None
    level: str
    make: Callable[[dict[str, Any]], Event]


def count_parts(plan: Plan) -> dict[str, int]:
    """Give the numbers that every record about a whole plan carries."""
    return {
        "checkpoint_count": len(plan.checkpoints),
        "estimated_duration_minutes": plan.estimated_duration_minutes,
        "skills_count": len(plan.manifest.skills),
        "domains_count": len(plan.manifest.network_domains),
    }


def data_of(kind: str, agent_id: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Give the data of a record about a plan: whose it is, its level, and the rest."""
    return {"agent_id": agent_id, "level": KINDS[kind].level, **more}


def make_event(
    kind: str,
    agent_id: str,
    data: Mapping[str, Any],
    *,
    actor: str,
    correlation: str,
    key: str | None = None,
) -> Event:
    """Make the record of one kind about one plan."""
    parts: dict[str, Any] = {
        "actor": actor,
        "data": data_of(kind, agent_id, data),
        "correlation": correlation,
        "subject": agent_id,
        "key": key,
    }
    return KINDS[kind].make(parts)


def state_after(kind: str) -> State | None:
    return KINDS[kind].then


def _make_kind(name: str, then: State | None = None, *, level: str = INFO) -> Kind:
    return Kind(name, then, level, lambda parts: Event(type=name, **parts))


_S = State
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        _make_kind(REQUESTED, _S.DRAFT_PENDING),
        _make_kind(QUESTIONED, _S.DRAFT_PENDING),
        _make_kind(ANSWERED, _S.DRAFT_PENDING),
        _make_kind(DRAFTING_RETRIED),
        _make_kind(FAILED, _S.PLAN_FAILED, level=WARNING),
        _make_kind(DRAFTED, _S.AWAITING_APPROVAL),
        _make_kind(REVISED, _S.AWAITING_APPROVAL),
        _make_kind(APPROVED, _S.APPROVED),
        _make_kind(REJECTED, _S.REJECTED, level=WARNING),
        _make_kind(FILES_EXPORTED),
        _make_kind(STARTED, _S.RUNNING),
        _make_kind(CHECKPOINT_STARTED, _S.RUNNING),
        _make_kind(CHECKPOINT_COMPLETED, _S.CHECKPOINT_COMPLETED),
        _make_kind(PAUSED, _S.PAUSED),
        _make_kind(RESUMED, _S.RUNNING),
        _make_kind(BLOCKED_ON_PERMISSION, _S.BLOCKED_ON_PERMISSION),
        _make_kind(BLOCKED_ON_DESTRUCTIVE, _S.BLOCKED_ON_DESTRUCTIVE),
        _make_kind(BLOCKED_ON_BUDGET, _S.BLOCKED_ON_BUDGET),
        _make_kind(BLOCKED_ON_LLM, _S.BLOCKED_ON_LLM),
        _make_kind(COMPLETED, _S.COMPLETED),
        _make_kind(ABORTED, _S.ABORTED, level=WARNING),
        _make_kind(STEP_STARTED),
        _make_kind(STEP_DECIDED),
        _make_kind(ACTION_STARTED),
        _make_kind(STEP_FINISHED),
        _make_kind(MODEL_FAILED, level=WARNING),
        _make_kind(OVERRAN, level=WARNING),
        _make_kind(PERMISSION_GRANTED),
        _make_kind(ACTION_CONFIRMED),
        _make_kind(ACTION_SKIPPED),
        _make_kind(BUDGET_EXTENDED),
        _make_kind(STEP_RETRIED),
        _make_kind(SILENCED),
        _make_kind(NOTIFIED),
        _make_kind(CODER_CALLED),
        _make_kind(USAGE_COUNTED),
        _make_kind(MESSAGE_SENT),
        _make_kind(MESSAGE_RECEIVED),
    )
}
