"""The states of a plan and the moves between them, as one table.

    draft_pending → awaiting_approval → approved → running ⇄ checkpoint_completed → completed
          │                │               │          ⇅
          └→ plan_failed   └→ rejected     │       paused, blocked_on_permission, _destructive,
                                           │       _budget, _llm
                                           └───────→ aborted, from any state after the approval

Each event leads to one state. One writer decides: a move names the version of the plan that it was
decided on, and the ledger refuses it when another came first. What is not in the table is refused
with both states named. Every state that is not an end has a way out.

>>> refuse_unless_legal("plan_00c0ffee", State.COMPLETED, State.RUNNING)
Traceback (most recent call last):
astra.plans.states.IllegalMove: plan_00c0ffee is completed and cannot become running
"""

from enum import StrEnum

from astra.trusted.kernel.errors import Conflict


class State(StrEnum):
    DRAFT_PENDING = "draft_pending"
    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    REJECTED = "rejected"
    PLAN_FAILED = "plan_failed"
    RUNNING = "running"
    CHECKPOINT_COMPLETED = "checkpoint_completed"
    PAUSED = "paused"
    BLOCKED_ON_PERMISSION = "blocked_on_permission"
    BLOCKED_ON_DESTRUCTIVE = "blocked_on_destructive"
    BLOCKED_ON_BUDGET = "blocked_on_budget"
    BLOCKED_ON_LLM = "blocked_on_llm"
    ABORTED = "aborted"
    COMPLETED = "completed"


BLOCKED = frozenset(
    {
        State.BLOCKED_ON_PERMISSION,
        State.BLOCKED_ON_DESTRUCTIVE,
        State.BLOCKED_ON_BUDGET,
        State.BLOCKED_ON_LLM,
    }
)
WAITING = BLOCKED | {State.PAUSED}
WORKING = frozenset({State.RUNNING, State.CHECKPOINT_COMPLETED})
UNDER_CONTRACT = WORKING | WAITING | {State.APPROVED}
ENDED = frozenset({State.REJECTED, State.PLAN_FAILED, State.ABORTED, State.COMPLETED})

MOVES: dict[State, frozenset[State]] = {
    State.DRAFT_PENDING: frozenset(
        {State.DRAFT_PENDING, State.AWAITING_APPROVAL, State.PLAN_FAILED, State.REJECTED}
    ),
    State.AWAITING_APPROVAL: frozenset({State.AWAITING_APPROVAL, State.APPROVED, State.REJECTED}),
    State.APPROVED: frozenset({State.AWAITING_APPROVAL, State.RUNNING, State.ABORTED}),
    State.RUNNING: WAITING
    | {State.RUNNING, State.CHECKPOINT_COMPLETED, State.ABORTED, State.COMPLETED},
    State.CHECKPOINT_COMPLETED: frozenset(
        {State.RUNNING, State.PAUSED, State.ABORTED, State.COMPLETED}
    ),
    State.PAUSED: frozenset({State.RUNNING, State.ABORTED}),
    **{state: frozenset({State.RUNNING, State.PAUSED, State.ABORTED}) for state in BLOCKED},
    **{state: frozenset[State]() for state in ENDED},
}


class IllegalMove(Conflict):
    code = "illegal_transition"


def refuse_unless_legal(identifier: str, now: State, then: State) -> None:
    if then in MOVES[now]:
        return
    ways = ", ".join(sorted(MOVES[now])) or "nothing: it has ended"
    raise IllegalMove(
        f"{identifier} is {now} and cannot become {then}",
        next_step=f"from {now} it can become: {ways}",
        state=str(now),
        wanted=str(then),
    )
