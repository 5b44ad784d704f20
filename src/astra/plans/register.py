"""The register of plans: read them, and write the next move of one.

A move is decided on what a plan is now and is appended under the version it was decided on. When
another move came first the plan is read again and the decision taken anew: two who pause, abort or
step at once never write over each other, and a move the new state does not allow is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astra.plans import events, states
from astra.plans.model import COLUMNS, STEP_COLUMNS, AgentPlan, Message, Step, read_plan, read_step
from astra.plans.states import State
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound, StaleVersion
from astra.trusted.kernel.ids import is_id
from astra.trusted.kernel.paging import check_page
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.timekeeping import current_time

_MOST_ATTEMPTS = 100
_AFTER_THE_END = frozenset({events.NOTIFIED, events.SILENCED, events.USAGE_COUNTED})

Decide = Callable[[AgentPlan], Mapping[str, Any]]


@dataclass(frozen=True)
class Register:
    ledger: Ledger
    clock: Clock

    def get(self, identifier: str) -> AgentPlan:
        rows = self.ledger.query(f"SELECT {COLUMNS} FROM plan WHERE id = ?", [identifier])  # noqa: S608 - fixed text
        if not rows:
            label = identifier if is_id(identifier) else "with that id"
            raise NotFound(f"there is no plan {label}", next_step="astra plans list")
        return read_plan(rows[0])

    def list_plans(
        self, *, state: str | None = None, limit: int = 50, after: int = 0
    ) -> tuple[list[AgentPlan], int | None]:
        """Give plans, oldest first, and where the next page starts."""
        state_names = [str(plan_state) for plan_state in State]
        if state not in (None, *state_names):
            raise BadInput(
                f"state is one of {', '.join(state_names)}", next_step="leave it out for all plans"
            )
        after = check_page(limit, after)
        condition, states_asked = ("", []) if state is None else ("state = ? AND ", [state])
        rows = self._select_plans(f"{condition}sequence > ?", [*states_asked, after], limit)
        return rows[:limit], rows[limit - 1].sequence if len(rows) > limit else None

    def in_states(self, wanted: Sequence[State]) -> list[AgentPlan]:
        marks = ", ".join("?" * len(wanted))
        return self._select_plans(
            f"state IN ({marks})", [str(state) for state in wanted], 1_000_000
        )

    def list_waiting_plans(self) -> list[AgentPlan]:
        """Give the plans that go on only when a person answers; approvals are asked elsewhere."""
        plans = self.in_states([*sorted(states.BLOCKED), State.PAUSED, State.DRAFT_PENDING])
        return [
            plan for plan in plans if plan.state is not State.DRAFT_PENDING or plan.has_questions
        ]

    def counts(self) -> dict[str, int]:
        """Count the plans of each state."""
        return dict(self.ledger.query("SELECT state, count(*) FROM plan GROUP BY state"))  # type: ignore[arg-type]

    def steps(self, identifier: str, *, checkpoint: int | None = None) -> list[Step]:
        condition, checkpoints = (
            ("", []) if checkpoint is None else (" AND checkpoint = ?", [checkpoint])
        )
        rows = self.ledger.query(
            f"SELECT {STEP_COLUMNS} FROM plan_step WHERE plan = ?{condition} ORDER BY step",  # noqa: S608 - fixed text
            [identifier, *checkpoints],
        )
        return [read_step(row) for row in rows]

    def last_steps(self, identifier: str, count: int) -> list[Step]:
        rows = self.ledger.query(
            f"SELECT {STEP_COLUMNS} FROM plan_step WHERE plan = ? ORDER BY step DESC LIMIT ?",  # noqa: S608 - fixed text
            [identifier, count],
        )
        return [read_step(row) for row in reversed(rows)]

    def messages(
        self, identifier: str, *, undelivered: bool = False, after: int = 0, limit: int = -1
    ) -> list[Message]:
        rows = self.ledger.query(
            "SELECT sequence, direction, kind, text, time, step FROM plan_message WHERE plan = ?"
            " AND (? = 0 OR (step IS NULL AND direction = 'received' AND kind = 'operator'))"
            " AND sequence > ? ORDER BY sequence LIMIT ?",
            [identifier, int(undelivered), after, limit],
        )
        names = ("sequence", "direction", "kind", "text", "time", "step")
        return [Message(**dict(zip(names, row, strict=True))) for row in rows]

    def newest_record(self, identifier: str, *kinds: str) -> Record:
        """Give the newest record of some kinds about a plan that has one."""
        return self.ledger.find_mentions(identifier, *kinds, limit=1, newest_first=True)[0]

    def move(
        self,
        identifier: str,
        kind: str,
        decide: Decide,
        *,
        actor: str = events.DAEMON,
        key: Callable[[AgentPlan], str] | None = None,
        sign: Callable[[Event], Event] | None = None,
        beside: Callable[[AgentPlan], Sequence[Event]] = lambda _plan: (),
    ) -> Record:
        """Record what happens to a plan next; `decide` gives its data, or refuses."""
        for _ in range(_MOST_ATTEMPTS):
            version = self.ledger.version(identifier)
            plan = self.get(identifier)
            _refuse_illegal(plan, kind)
            event = events.make_event(
                kind,
                identifier,
                decide(plan),
                actor=actor,
                correlation=plan.correlation,
                key=key(plan) if key else None,
            )
            more_events = beside(plan)
            event = sign(event) if sign else event
            try:
                return self.ledger.append([event, *more_events], expect={identifier: version})[0]
            except StaleVersion:
                continue
        raise Conflict(
            f"{identifier} changed too often while this was applied", next_step="try again"
        )

    def now(self) -> str:
        """Give the time that counts, as it is written."""
        return format_time(current_time(self.clock.now(), self.ledger.head()))

    def _select_plans(
        self, condition: str, parameters: Sequence[Any], limit: int
    ) -> list[AgentPlan]:
        rows = self.ledger.query(
            f"SELECT {COLUMNS} FROM plan WHERE {condition} ORDER BY sequence LIMIT ?",  # noqa: S608 - fixed texts
            [*parameters, limit + 1],
        )
        return [read_plan(row) for row in rows]


def _refuse_illegal(plan: AgentPlan, kind: str) -> None:
    """Check the move an event makes; one that makes none needs a plan that has not ended."""
    next_state = events.state_after(kind)
    if next_state is not None:
        states.refuse_unless_legal(plan.id, plan.state, next_state)
    elif plan.state in states.ENDED and kind not in _AFTER_THE_END:
        raise states.IllegalMove(
            f"{plan.id} is {plan.state}: nothing more happens to it",
            next_step="astra plans draft, for a new one",
            state=str(plan.state),
            wanted=kind,
        )
