"""A plan as it stands at the ledger's head: its row, its steps, its messages."""

import json
from dataclasses import dataclass
from typing import Any

from astra.plans import schema
from astra.plans.grants import Grants
from astra.plans.schema import BadPlan, Checkpoint, Plan
from astra.plans.states import State

COLUMNS = (
    "id, state, reason, detail, description, channels, plan, plan_hash, grants, grants_hash,"
    " approval, exported, questions, round, block, checkpoint, done, steps, spent, extra, failures,"
    " due, calls, tokens, silenced, overran, notified, correlation, created_at, updated_at,"
    " approved_at, started_at, sequence"
)
STEP_COLUMNS = (
    "step, checkpoint, state, action, digest, destructive, allowed, confirmed, again, outcome,"
    " result, started_at, ended_at, tokens"
)


@dataclass(frozen=True, kw_only=True)
class AgentPlan:
    """One row: what is known of a plan, its counters and what it waits for."""

    id: str
    state: State
    reason: str
    detail: str
    """Where the reason is a code: the words to it."""
    description: str
    channels: tuple[str, ...]
    plan: Plan | None
    plan_hash: str | None
    grants: Grants | None
    grants_hash: str | None
    approval: str | None
    exported: str | None
    questions: tuple[str, ...]
    round: int
    block: dict[str, Any] | None
    checkpoint: int
    done: int
    steps: int
    spent: int
    extra: int
    failures: int
    due: str | None
    calls: int
    tokens: int
    silenced: bool
    overran: bool
    notified: int
    correlation: str
    created_at: str
    updated_at: str | None
    approved_at: str | None
    started_at: str | None
    sequence: int

    @property
    def current(self) -> Checkpoint:
        """The checkpoint the plan works on; only asked of plans that have begun one."""
        assert self.plan is not None  # noqa: S101 - as above
        return self.plan.checkpoints[self.checkpoint]

    @property
    def budget(self) -> int:
        return self.current.step_budget + self.extra

    @property
    def at_step(self) -> int:
        """The step that somebody who looks at it decides about: the one it waits at, or is at."""
        return int((self.block or {}).get("step", self.steps))

    @property
    def has_questions(self) -> bool:
        """Whether it has questions that somebody has to answer before it can be drafted."""
        return self.state is State.DRAFT_PENDING and bool(self.questions)

    def summarise(self) -> dict[str, Any]:
        goals = self.plan.goals if self.plan else ()
        return {
            "id": self.id,
            "agent_id": self.id,
            "state": str(self.state),
            "reason": self.reason,
            "description": self.description,
            "goals": list(goals),
            "checkpoints": len(self.plan.checkpoints) if self.plan else 0,
            "checkpoints_done": self.done,
            "asks": self.has_questions,
            "steps": self.steps,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }


@dataclass(frozen=True, kw_only=True)
class Step:
    """One model call and what came of it."""

    step: int
    checkpoint: int
    state: str
    action: dict[str, Any] | None
    digest: str | None
    destructive: bool
    allowed: tuple[tuple[str, str], ...]
    confirmed: int | None
    again: int | None
    outcome: str | None
    result: str | None
    started_at: str
    ended_at: str | None
    tokens: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "checkpoint": self.checkpoint,
            "state": self.state,
            "action": self.action,
            "destructive": self.destructive,
            "outcome": self.outcome,
            "result": self.result,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "tokens": self.tokens,
        }


@dataclass(frozen=True, kw_only=True)
class Message:
    sequence: int
    direction: str
    kind: str
    text: str
    time: str
    step: int | None

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read_plan(row: tuple[Any, ...]) -> AgentPlan:
    values = dict(zip(COLUMNS.split(", "), row, strict=True))
    values["state"] = State(values["state"])
    for name in ("channels", "questions"):
        values[name] = tuple(json.loads(values[name]))
    values["block"] = json.loads(values["block"]) if values["block"] else None
    values["plan"] = _plan_from_text(values["plan"])
    values["grants"] = Grants.read(json.loads(values["grants"])) if values["grants"] else None
    for name in ("silenced", "overran"):
        values[name] = bool(values[name])
    return AgentPlan(**values)


def _plan_from_text(text: str | None) -> Plan | None:
    """Read a stored plan; one that this version cannot read is not there, and breaks no list."""
    try:
        return schema.load(json.loads(text))[0] if text else None
    except BadPlan:
        return None


def read_step(row: tuple[Any, ...]) -> Step:
    values = dict(zip(STEP_COLUMNS.split(", "), row, strict=True))
    values["action"] = json.loads(values["action"]) if values["action"] else None
    allowed: list[list[str]] = json.loads(values["allowed"] or "[]")
    values["allowed"] = tuple((kind, value) for kind, value in allowed)
    values["destructive"] = bool(values["destructive"])
    return Step(**values)
