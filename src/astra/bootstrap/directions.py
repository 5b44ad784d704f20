"""Which way each event goes, and so what is recorded even while the disk is full.

Every event of `bootstrap.events` stands in this table once; a test fails for one that does not.
What is urgent is not a list of its own but follows from the direction: whatever takes something
away, goes back, ends what was begun, or is a person's decision. What begins or carries work on is
never urgent, and so the agent cannot use the reserve up: each ending needs a beginning before it.

>>> from astra.trusted.ledger.record import Event
>>> is_urgent([Event(type="token_revoked", actor="operator")])
True
>>> is_urgent([Event(type="tool_started", actor="agent")])
False
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from astra.adapters import environment_store
from astra.adapters.boxes import clone_following, sandbox
from astra.adapters.servers import hosting
from astra.adapters.supervisor import app_egress
from astra.beliefs import events as beliefs
from astra.changes import dry_run, readiness
from astra.deployments import events as deployments
from astra.deployments.fleet import events as fleet
from astra.desires import idle
from astra.desires import views as desires
from astra.goals import events as goals
from astra.notifications import devices, outbox, trying
from astra.operations import alert_book, smoke
from astra.persona import conversations
from astra.plans import events as plans
from astra.plans.code import memory as edit_formats
from astra.research import events as research
from astra.schedules import events as schedules
from astra.schedules import tokens
from astra.spend import projection as spend
from astra.trusted.approvals import desk
from astra.trusted.changes import events as changed
from astra.trusted.changes import merge_permissions, tasks
from astra.trusted.changes import model as changes
from astra.trusted.ledger import formats, remainder, timekeeping
from astra.trusted.ledger.record import Event
from astra.trusted.policy import (
    access,
    authority,
    budgets,
    confinement,
    contract,
    cosigning,
    flags,
    operators,
    passkeys,
    permissions,
    stopping,
    telemetry,
)
from astra.trusted.servers import acceptance
from astra.trusted.stop import reaching
from astra.trusted.upstream import sync
from astra.workers import events as workers


class Direction(Enum):
    TIGHTENS = "somebody or something may do less from here on"
    RETURNS = "an earlier state is in force again"
    ENDS = "what was begun is over"
    DECIDES = "a person decided, with a signature or from the operator's own door"
    NOTES = "nothing else changes; it may stand beside any other"
    BEGINS = "work starts, or goes on"
    BY_KIND = "a deployment begins, a rollback returns: its data says which"


_URGENT = frozenset({Direction.TIGHTENS, Direction.RETURNS, Direction.ENDS, Direction.DECIDES})
_QUIET = frozenset({Direction.TIGHTENS, Direction.RETURNS, Direction.ENDS, Direction.NOTES})

_TABLE: Mapping[Direction, tuple[str, ...]] = {
    Direction.TIGHTENS: (
        *(access.SESSION_CLOSED, access.TOKEN_REVOKED, passkeys.REVOKED, confinement.REVOKED),
        *(desk.REJECTED, desk.EXPIRED, desk.STALE, tokens.REFUSED, devices.FORGOTTEN),
        *(changes.REJECTED, changes.WITHDRAWN, changes.REVISION_REQUESTED, tasks.DISABLED),
        *(changes.RETURNED, permissions.REMOVED, alert_book.UNSILENCED),
        merge_permissions.REMOVED,
        *(plans.REJECTED, plans.PAUSED, plans.GLOBAL_GRANT_REMOVED, plans.ALLOWLIST_TAMPERED),
        *(plans.BLOCKED_ON_PERMISSION, plans.BLOCKED_ON_DESTRUCTIVE),
        *(plans.BLOCKED_ON_BUDGET, plans.BLOCKED_ON_LLM, spend.REACHED),
        *(goals.HELD, goals.ABANDONED),
        *(
            schedules.DELETED,
            schedules.PAUSED,
            deployments.QUARANTINED,
            deployments.DECLINED,
            stopping.STOPPED,
        ),
        reaching.REACHED,
        *(workers.DRAINING, workers.LEFT, workers.WITHDRAWN),
    ),
    Direction.RETURNS: (
        *(deployments.ROLLBACK_ORDERED, deployments.ROLLED_BACK, deployments.ROLLBACK_FAILED),
        *(deployments.RESTARTED, deployments.STATE_RESTORED, changes.ROLLED_BACK),
        *(changes.RESTORED, deployments.CHANGES_SEEN),
    ),
    Direction.ENDS: (
        *(telemetry.TOOL_FINISHED, telemetry.TOOL_INTERRUPTED, sandbox.BOX_ENDED, tasks.FINISHED),
        *(changes.TESTS_PASSED, changes.TESTS_FAILED, changes.TESTS_COMPLETED, changes.CONFLICTED),
        *(plans.STEP_FINISHED, plans.COMPLETED, plans.ABORTED, plans.FAILED),
        *(schedules.CLOSED, schedules.GAVE_UP, dry_run.COMPLETED),
        *(research.TASK_FINISHED, research.FINISHED, workers.ENDED),
        *(goals.TASK_FINISHED, goals.TASK_RETRIED, goals.SATISFIED, goals.PLANNING_FAILED),
        *(desires.CLOSED, conversations.DELETED, spend.SETTLED),
        *(deployments.RETIRED, deployments.SETTLED, deployments.FAILED, deployments.NOT_SERVING),
        deployments.BEFORE_START_FINISHED,
        *(fleet.INSTANCE_RELEASED, fleet.INSTANCE_FAILED, fleet.INSTANCE_PASSED_OVER),
        fleet.WAVE_FINISHED,
        *(deployments.REMOVED, "ledger_tail_set_aside", formats.FORMAT_RAISED, smoke.FINISHED),
        environment_store.REMOVED,
    ),
    Direction.DECIDES: (
        *(authority.ROOT_CREATED, authority.KEY_ROTATED, contract.CONFIG_SIGNED, flags.FLAG_SET),
        *(authority.RESTORED, permissions.ADDED, acceptance.ACCEPTED),
        *operators.CHANGES,
        cosigning.GIVEN,
        merge_permissions.ADDED,
        *(desk.GRANTED, tokens.EXPORTED, passkeys.ENROLLED, access.TOKEN_CREATED),
        *(stopping.STARTED, confinement.ALLOWED, readiness.SIGNED_OFF, dry_run.APPROVED),
        *(readiness.MATRIX_RECORDED, timekeeping.CLOCK_ACCEPTED, alert_book.SILENCED),
        remainder.ARCHIVED,
        *(plans.APPROVED, plans.GLOBAL_GRANT_ADDED, plans.PERMISSION_GRANTED),
        *(plans.ACTION_CONFIRMED, plans.ACTION_SKIPPED, plans.BUDGET_EXTENDED),
        *(goals.ADOPTED, spend.RAISED),
        *(deployments.ORDERED, desires.HALF_LIFE_SET, access.SESSION_OPENED),
    ),
    Direction.NOTES: (
        *(telemetry.TOOL_CALLED, telemetry.TOOL_REFUSED, desk.ANNOUNCED, conversations.SILENCED),
        telemetry.REFUSALS_COUNTED,
        *(changes.COMMENTED, changed.STEP_FAILED, changes.SUPERSEDED, desires.PRUNED),
        *(plans.MESSAGE_SENT, plans.MESSAGE_RECEIVED, plans.SILENCED, plans.NOTIFIED),
        *(edit_formats.EDIT_TRIED, plans.HOSTS_LOOKED_UP),
        *(plans.OVERRAN, plans.USAGE_COUNTED, plans.FILES_EXPORTED, plans.ALLOWLIST_EXPORTED),
        *(schedules.SKIPPED, schedules.MISSED, schedules.NOTICED, schedules.ADJUSTED),
        schedules.JOBS_SET_ASIDE,
        *(schedules.HELD, outbox.SENT, outbox.FAILED, trying.TESTED, sandbox.EGRESS_ATTEMPTED),
        *(app_egress.RECORDED, budgets.BUDGET_RETURNED),
        deployments.STATE_SAVED,
        smoke.STARTED,
        *(alert_book.RAISED, alert_book.REPEATED, alert_book.RESOLVED),
        *(deployments.PUSHED, deployments.PUSH_FAILED, idle.SURVEYED),
        *(beliefs.PROPOSED, beliefs.SHIFTED, beliefs.DEPRECATED),
        *(acceptance.CHANGED, hosting.FAILED, workers.CHECKED),
    ),
    Direction.BEGINS: (
        *(budgets.BUDGET_SPENT, permissions.USED, telemetry.TOOL_STARTED, spend.RESERVED),
        merge_permissions.USED,
        *(desk.REQUESTED, desk.USED, devices.SUBSCRIBED, goals.CREATED),
        *(goals.PLANNED, goals.STARTED, goals.RESUMED, goals.RETRIED, goals.REOPENED),
        *(desires.REOPENED,),
        *(goals.TASK_CLAIMED, goals.TASK_WAITED, goals.DECOMPOSITION_ASKED),
        *(research.STARTED, research.RESUMED),
        *(conversations.ASKED, conversations.ANSWERED, sandbox.EGRESS_OPENED),
        sandbox.SECRET_ADDED,
        *(schedules.CREATED, schedules.MODIFIED, schedules.RESUMED, schedules.CLAIMED),
        *(schedules.RETRIED, desires.RECORDED, desires.REINFORCED, desires.PROMOTED),
        *(tasks.CREATED, tasks.ENABLED, changes.SCHEDULED, changes.SCANNED, changes.TESTS_STARTED),
        *(changes.REBASED, changes.RENEWED, changes.APPROVED, changes.EXECUTED),
        *(plans.REQUESTED, plans.QUESTIONED, plans.ANSWERED, plans.DRAFTING_RETRIED),
        *(plans.DRAFTED, plans.REVISED, plans.STARTED, plans.CHECKPOINT_STARTED),
        *(plans.CHECKPOINT_COMPLETED, plans.STEP_STARTED, plans.STEP_DECIDED),
        *(plans.ACTION_STARTED, plans.MODEL_FAILED, plans.STEP_RETRIED, plans.RESUMED),
        *(plans.CODER_CALLED, deployments.REHEARSED, sync.MERGED),
        *(clone_following.FOLLOWED, hosting.STARTED, acceptance.LISTED),
        *(workers.JOINED, workers.OFFERED, workers.CLAIMED, workers.MOVED),
    ),
    Direction.BY_KIND: (
        *(deployments.REQUESTED, deployments.BUILT, deployments.SWITCHED),
        *(deployments.RELOAD_BEGUN, deployments.BEFORE_START_BEGUN),
        *(fleet.ROLLOUT_BEGUN, fleet.WAVE_BEGUN, fleet.INSTANCE_ORDERED),
    ),
}

DIRECTIONS: Mapping[str, Direction] = MappingProxyType(
    {name: direction for direction, names in _TABLE.items() for name in names}
)


def is_urgent(batch: Sequence[Event]) -> bool:
    """Tell whether a batch is recorded on a full disk: something in it is urgent, nothing begins.

    A type that the table does not name counts as a beginning.
    """
    directions = {_direction_of(event) for event in batch}
    return Direction.BEGINS not in directions and not _URGENT.isdisjoint(directions)


def is_harmless(batch: Sequence[Event]) -> bool:
    """Tell whether a batch is recorded while the ledger is held: it begins and loosens nothing.

    What is signed may have been used up in a state that the ledger does not know. The record of
    the restore is the way out, with what it voids.
    """
    if batch[0].type == authority.RESTORED:
        return all(_is_quiet(event) for event in batch[1:])
    return all(_is_quiet(event) for event in batch)


def _is_quiet(event: Event) -> bool:
    turned_off = event.type == flags.FLAG_SET and event.data.get("on") is False
    return not event.signed and (turned_off or _direction_of(event) in _QUIET)


def _direction_of(event: Event) -> Direction:
    direction = DIRECTIONS.get(event.type, Direction.BEGINS)
    if direction is Direction.BY_KIND:
        returns = event.data.get("kind") == "rollback"
        return Direction.RETURNS if returns else Direction.BEGINS
    return direction
