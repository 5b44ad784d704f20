"""The gate: one decision for every call from every door.

    held → flags → stop → disk → role → scope → tier → budget → grants → whole → approval

`decide` is a pure function of the call and of what is known. The first rule that objects decides;
a call no rule speaks for is denied. `Gate.admit` gathers what is known, records the start (with its
budgets and, for tier 2, the approval it uses up) in one durable batch, and mints the permit.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import DuplicateKey, Refused, StaleVersion
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import budgets, flags, payload, permissions, permit
from astra.trusted.policy.budgets import Balance
from astra.trusted.policy.call import Call, Role, Tier
from astra.trusted.policy.decision import Decision, Reason, Verdict, allow, deny
from astra.trusted.policy.permit import Permit
from astra.trusted.policy.telemetry import build_started_event
from astra.trusted.settings.configuration import Budgets

_MOST_ATTEMPTS = 100


@dataclass(frozen=True, kw_only=True)
class Known:
    """Everything a decision may depend on besides the call."""

    flags: Mapping[str, bool]
    stopped: bool
    held_off: frozenset[str] = frozenset()
    """Flags that an environment turns off, whatever the operator signed."""
    held: str = ""
    disk_low: bool = False
    balances: Sequence[Balance] = ()
    outside: str = ""
    approved: bool = False
    permitted: str = ""
    """The standing permission that covers the call, in words."""


class Approvals(Protocol):
    """What the gate needs of the approval desk."""

    def find_usable(self, digest: str, *, asked_by: str | None = None) -> str | None:
        """Name an approval for exactly this digest that is signed, unexpired and unused.

        With `asked_by`, only one that this actor asked for.
        """
        ...

    def use(self, approval_id: str, call: Call) -> Event:
        """Give the event that uses an approval up; the ledger lets it happen once."""
        ...

    def announce_spent(self, approval_id: str) -> None:
        """Hear that an approval is used up: the record says so, and the effect comes next."""
        ...

    def request(self, call: Call, digest: str) -> str:
        """Ask for an approval, or name the one that is already waiting for the same content.

        Refused (`too_many_waiting`) to who has as many requests waiting as one actor may have.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where the gate looks: each is asked again for every call, so changes bite at once."""

    flags: Callable[[], Mapping[str, bool]]
    stopped: Callable[[], bool]
    outside_grants: Callable[[Call], str]
    disk_low: Callable[[], bool]
    held_off: Callable[[], frozenset[str]] = frozenset
    """Names the flags that the daemon's own environment turns off."""
    held: Callable[[], str] = str
    """Says why nothing may begin on this data root until the operator signs a restore."""
    machine: str = ""
    """Names this machine where several share the chain."""
    ceilings: Callable[[], Budgets] = Budgets
    """Gives the budgets of a day that the operator signed."""


def decide(call: Call, known: Known) -> Decision:
    for rule in (
        *(
            _deny_when_held,
            _deny_flag_off,
            _deny_when_stopped,
            _deny_low_disk,
            _deny_wrong_role,
            _deny_outside_limits,
            _deny_unknown_paths,
            _deny_unavailable,
        ),
        *(_deny_spent_budget, _deny_outside_grants, _deny_unshowable, _decide_by_tier),
    ):
        if (decision := rule(call, known)) is not None:
            return decision
    return deny(Reason.NO_RULE, "no rule allows this", "ask an operator")


class Gate:
    def __init__(
        self, ledger: Ledger, clock: Clock, approvals: Approvals, around: Surroundings
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._approvals = approvals
        self._around = around
        self._turn = threading.Lock()

    def admit(
        self, call: Call, *, off: frozenset[str] = frozenset()
    ) -> tuple[Decision, Permit | None]:
        """Decide; where the answer is yes, record the start and give the permit for it."""
        digest = call.digest()
        for _ in range(_MOST_ATTEMPTS):
            with contextlib.suppress(StaleVersion, DuplicateKey), self._turn:
                return self._admit_once(call, digest, off)
        return deny(Reason.TOO_MANY_CALLS, "too many calls at once", "try again later"), None

    def deny_unreachable(self, call: Call, *, off: frozenset[str] = frozenset()) -> Decision | None:
        """Say whether a tool is out of reach whatever its arguments are."""
        facts = Known(
            flags=self._read_flags(off),
            stopped=False,  # which none of these rules looks at
            held_off=off | self._around.held_off(),
        )
        for rule in (_deny_flag_off, _deny_wrong_role, _deny_outside_limits, _deny_unavailable):
            if (decision := rule(call, facts)) is not None:
                return decision
        return None

    def _read_flags(self, off: frozenset[str]) -> dict[str, bool]:
        return {name: on and name not in off for name, on in self._around.flags().items()}

    def _admit_once(
        self, call: Call, digest: str, off: frozenset[str]
    ) -> tuple[Decision, Permit | None]:
        """Decide on what is known now; the ledger refuses the start if that has changed."""
        flags_version = flags.version(self._ledger)
        budget_scopes = budgets.scopes(call, now=self._clock.now(), ceilings=self._around.ceilings)
        balances = budgets.balances(self._ledger, budget_scopes)
        approval = self._find_approval(call, digest) if call.tier is Tier.EXTERNAL else None
        permission = approval is None and permissions.find_covering(
            self._ledger, call, now=self._clock.now()
        )
        facts = Known(
            flags=self._read_flags(off),
            stopped=self._around.stopped(),
            held_off=off | self._around.held_off(),
            held=self._around.held(),
            disk_low=self._around.disk_low(),
            balances=balances,
            outside=self._around.outside_grants(call),
            approved=approval is not None,
            permitted=str(permission or ""),
        )
        decision = decide(call, facts)
        if decision.verdict is Verdict.NEEDS_APPROVAL:
            return self._request_approval(call, digest, decision), None
        if not decision.allowed:
            return decision, None
        call_id = random_id("call")
        if call.tier is not Tier.READ or budget_scopes:
            events = [
                *(
                    []
                    if call.tier is Tier.READ
                    else [build_started_event(call, call_id, decision, self._around.machine)]
                ),
                *(scope.spend(call) for scope in budget_scopes),
            ]
            if approval is not None:
                events.append(self._approvals.use(approval, call))
            expect = {balance.scope.id: balance.spends for balance in balances}
            if permission:
                events.append(permissions.build_used_event(permission, call))
                expect[permission.id] = permission.version
            self._ledger.append(events, expect={**expect, flags.SUBJECT: flags_version})
        if approval is not None:
            self._approvals.announce_spent(approval)
        return decision, permit.mint(
            call_id=call_id, tool=call.tool, digest=digest, spent=budget_scopes
        )

    def _find_approval(self, call: Call, digest: str) -> str | None:
        """Find what was approved for this caller; a schedule's approval is the schedule's."""
        asked_by = None if call.schedule_id else str(call.actor)
        return self._approvals.find_usable(digest, asked_by=asked_by)

    def _request_approval(self, call: Call, digest: str, decision: Decision) -> Decision:
        try:
            approval_id = self._approvals.request(call, digest)
        except Refused as error:  # too many wait already
            return deny(Reason(error.reason), error.detail, error.next_step)
        smaller_calls = permissions.describe_usable(self._ledger, call, now=self._clock.now())
        return Decision(
            verdict=Verdict.NEEDS_APPROVAL,
            reason=Reason.NEEDS_APPROVAL,
            explanation=decision.explanation,
            next_step=f"tell the operator to look at {approval_id} (`astra approvals`), "
            f"then make the same call again{smaller_calls}",
            approval_id=approval_id,
        )


def _deny_when_held(call: Call, known: Known) -> Decision | None:
    if known.held and call.tier is not Tier.READ:
        return deny(
            Reason.LEDGER_HELD,
            f"nothing begins on this data root: {known.held}",
            "tell the operator to look at `astra status`",
        )
    return None


def _deny_flag_off(call: Call, known: Known) -> Decision | None:
    for name in call.flags:
        if not known.flags.get(name, False):
            next_step = (
                f"the environment (or .env) of the daemon or of its caller holds {name} off; it has"
                " to be taken out there"
                if name in known.held_off
                else f"an operator can run `astra flags set {name} on`"
            )
            return deny(Reason.FLAG_OFF, f"{call.tool} is switched off: {name} is off", next_step)
    return None


def _deny_when_stopped(call: Call, known: Known) -> Decision | None:
    if known.stopped and call.tier is not Tier.READ:
        return deny(
            Reason.STOPPED,
            "an operator has stopped all work",
            "wait: only an operator can start it again, with `astra start`",
        )
    return None


def _deny_low_disk(call: Call, known: Known) -> Decision | None:
    """Keep the rest of the disk for operators: what they decide is written to the very end."""
    if known.disk_low and call.tier is not Tier.READ and call.actor.role is not Role.OPERATOR:
        return deny(
            Reason.DISK_LOW,
            "the disk is almost full, and what is left is kept for stop, rollback and decisions",
            "wait: an operator has to make room on the disk of the data root",
        )
    return None


def _deny_wrong_role(call: Call, _known: Known) -> Decision | None:
    role = call.actor.role
    if call.operator_only and role is not Role.OPERATOR:
        return deny(
            Reason.OPERATOR_ONLY, f"{call.tool} is for operators", "ask an operator to do it"
        )
    if role is Role.VIEWER and call.tier is not Tier.READ:
        return deny(Reason.OPERATOR_ONLY, "a viewer may look only", "use another role")
    return None


def _deny_outside_limits(call: Call, _known: Known) -> Decision | None:
    """Keep a token to its tools and its tier, also in what it would have run later."""
    for tool, tier in ((call.tool, int(call.tier)), *call.later):
        if problem := call.limits.find_tool_objection(tool, tier):
            return _deny_by_scope(problem)
    return None


def _deny_unknown_paths(call: Call, _known: Known) -> Decision | None:
    """Keep a token to its paths; what runs later may touch others."""
    problem = call.limits.find_path_objection(None if call.later else call.touched)
    return _deny_by_scope(problem) if problem else None


def _deny_by_scope(problem: str) -> Decision:
    return deny(
        Reason.OUTSIDE_SCOPE,
        problem,
        "stay within the token's scope, or ask an operator for another token",
    )


def _deny_unavailable(call: Call, _known: Known) -> Decision | None:
    if not call.available:
        return deny(
            Reason.NOT_AVAILABLE,
            f"{call.tool} is not part of this version of Astra",
            "see docs/reference/capabilities.md for what is",
        )
    return None


def _deny_spent_budget(_call: Call, known: Known) -> Decision | None:
    for balance in known.balances:
        if balance.left == 0:
            scope = balance.scope
            reason = Reason.POOL_SPENT if scope.kind == "actor" else Reason.BUDGET_SPENT
            return deny(
                reason,
                f"today's budget of {scope.limit} for {scope.kind} {scope.name} is spent",
                "it starts again at midnight UTC",
            )
    return None


def _deny_outside_grants(_call: Call, known: Known) -> Decision | None:
    if known.outside:
        return deny(
            Reason.OUTSIDE_GRANTS,
            f"{known.outside} is outside what was granted",
            "stay within the grants, or ask an operator for this one",
        )
    return None


def _deny_unshowable(call: Call, _known: Known) -> Decision | None:
    """Refuse what nobody could read in whole before signing it, before anybody is asked."""
    if call.tier is not Tier.EXTERNAL:
        return None
    problem = payload.find_objection(call.content())
    if problem is None:
        return None
    explanation = f"{call.tool} needs a person's approval: {problem.detail}"
    return deny(Reason.CANNOT_BE_SHOWN, explanation, problem.next_step)


def _decide_by_tier(call: Call, known: Known) -> Decision | None:
    if call.tier in (Tier.READ, Tier.LOCAL_WRITE):
        return allow(f"tier {int(call.tier)}, within budget and grants")
    if known.approved:
        return allow("an operator approved exactly this", Reason.APPROVED)
    if known.permitted:
        return allow(f"a standing permission covers it: {known.permitted}", Reason.PERMITTED)
    reach = "reaches outside this machine" if call.footprint.domains else "is of tier 2"
    why = call.loosens or reach
    return Decision(
        verdict=Verdict.NEEDS_APPROVAL,
        reason=Reason.NEEDS_APPROVAL,
        explanation=f"{call.tool} {why} and needs a one-time approval",
    )
