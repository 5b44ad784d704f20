"""The gate: one decision for every call from every door.

    held → flags → stop → disk → role → tier → budget → grants → whole → approval

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
from astra.trusted.policy import budgets, flags, payload, permit
from astra.trusted.policy.budgets import Balance
from astra.trusted.policy.call import Call, Role, Tier
from astra.trusted.policy.decision import Decision, Reason, Verdict, allow, deny
from astra.trusted.policy.permit import Permit
from astra.trusted.policy.telemetry import started

_MOST_ATTEMPTS = 100


@dataclass(frozen=True, kw_only=True)
class Known:
    """Everything a decision may depend on besides the call."""

    flags: Mapping[str, bool]
    stopped: bool
    held: str = ""
    disk_low: bool = False
    balances: Sequence[Balance] = ()
    outside: str = ""
    approved: bool = False


class Approvals(Protocol):
    """What the gate needs of the approval desk."""

    def usable(self, digest: str) -> str | None:
        """Name an approval for exactly this digest that is signed, unexpired and unused."""
        ...

    def use(self, approval_id: str, call: Call) -> Event:
        """Give the event that uses an approval up; the ledger lets it happen once."""
        ...

    def spent(self, approval_id: str) -> None:
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
    held: Callable[[], str] = str
    """Says why nothing may begin on this data root until the operator signs a restore."""


def decide(call: Call, known: Known) -> Decision:
    for rule in (
        *(_held, _flags, _stop, _disk, _role, _available),
        *(_budget, _grants, _whole, _approval),
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

    def closed(self, call: Call, *, off: frozenset[str] = frozenset()) -> Decision | None:
        """Say whether a tool is out of reach whatever its arguments are."""
        known = Known(flags=self._flags(off), stopped=self._around.stopped())
        for rule in (_flags, _role, _available):
            if (decision := rule(call, known)) is not None:
                return decision
        return None

    def _flags(self, off: frozenset[str]) -> dict[str, bool]:
        return {name: on and name not in off for name, on in self._around.flags().items()}

    def _admit_once(
        self, call: Call, digest: str, off: frozenset[str]
    ) -> tuple[Decision, Permit | None]:
        """Decide on what is known now; the ledger refuses the start if that has changed."""
        flags_version = flags.version(self._ledger)
        wanted = budgets.scopes(call, now=self._clock.now())
        balances = budgets.balances(self._ledger, wanted)
        approval = self._approvals.usable(digest) if call.tier is Tier.EXTERNAL else None
        known = Known(
            flags=self._flags(off),
            stopped=self._around.stopped(),
            held=self._around.held(),
            disk_low=self._around.disk_low(),
            balances=balances,
            outside=self._around.outside_grants(call),
            approved=approval is not None,
        )
        decision = decide(call, known)
        if decision.verdict is Verdict.NEEDS_APPROVAL:
            return self._ask(call, digest, decision), None
        if not decision.allowed:
            return decision, None
        call_id = random_id("call")
        if call.tier is not Tier.READ:
            events = [started(call, call_id, decision), *(scope.spend(call) for scope in wanted)]
            if approval is not None:
                events.append(self._approvals.use(approval, call))
            expect = {balance.scope.id: balance.spends for balance in balances}
            self._ledger.append(events, expect={**expect, flags.SUBJECT: flags_version})
        if approval is not None:
            self._approvals.spent(approval)
        return decision, permit.mint(call_id=call_id, tool=call.tool, digest=digest, spent=wanted)

    def _ask(self, call: Call, digest: str, decision: Decision) -> Decision:
        try:
            approval_id = self._approvals.request(call, digest)
        except Refused as error:  # too many wait already
            return deny(Reason(error.reason), error.detail, error.next_step)
        return Decision(
            verdict=Verdict.NEEDS_APPROVAL,
            reason=Reason.NEEDS_APPROVAL,
            explanation=decision.explanation,
            next_step=f"tell the operator to look at {approval_id} (`astra approvals`), "
            "then make the same call again",
            approval_id=approval_id,
        )


def _held(call: Call, known: Known) -> Decision | None:
    if known.held and call.tier is not Tier.READ:
        return deny(
            Reason.LEDGER_HELD,
            f"nothing begins on this data root: {known.held}",
            "tell the operator to look at `astra status`",
        )
    return None


def _flags(call: Call, known: Known) -> Decision | None:
    for name in call.flags:
        if not known.flags.get(name, False):
            return deny(
                Reason.FLAG_OFF,
                f"{call.tool} is switched off: {name} is off",
                f"an operator can run `astra flags set {name} on`",
            )
    return None


def _stop(call: Call, known: Known) -> Decision | None:
    if known.stopped and call.tier is not Tier.READ:
        return deny(
            Reason.STOPPED,
            "an operator has stopped all work",
            "wait: only an operator can start it again, with `astra start`",
        )
    return None


def _disk(call: Call, known: Known) -> Decision | None:
    """Keep the rest of the disk for operators: what they decide is written to the very end."""
    if known.disk_low and call.tier is not Tier.READ and call.actor.role is not Role.OPERATOR:
        return deny(
            Reason.DISK_LOW,
            "the disk is almost full, and what is left is kept for stop, rollback and decisions",
            "wait: an operator has to make room on the disk of the data root",
        )
    return None


def _role(call: Call, _known: Known) -> Decision | None:
    role = call.actor.role
    if call.operator_only and role is not Role.OPERATOR:
        return deny(
            Reason.OPERATOR_ONLY, f"{call.tool} is for operators", "ask an operator to do it"
        )
    if role is Role.VIEWER and call.tier is not Tier.READ:
        return deny(Reason.OPERATOR_ONLY, "a viewer may look only", "use another role")
    return None


def _available(call: Call, _known: Known) -> Decision | None:
    if not call.available:
        return deny(
            Reason.NOT_AVAILABLE,
            f"{call.tool} is not part of this version of Astra",
            "see docs/reference/capabilities.md for what is",
        )
    return None


def _budget(_call: Call, known: Known) -> Decision | None:
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


def _grants(_call: Call, known: Known) -> Decision | None:
    if known.outside:
        return deny(
            Reason.OUTSIDE_GRANTS,
            f"{known.outside} is outside what was granted",
            "stay within the grants, or ask an operator for this one",
        )
    return None


def _whole(call: Call, _known: Known) -> Decision | None:
    """Refuse what nobody could read in whole before signing it, before anybody is asked."""
    if call.tier is not Tier.EXTERNAL:
        return None
    problem = payload.objection(call.content())
    if problem is None:
        return None
    explanation = f"{call.tool} needs a person's approval: {problem.detail}"
    return deny(Reason.CANNOT_BE_SHOWN, explanation, problem.next_step)


def _approval(call: Call, known: Known) -> Decision | None:
    if call.tier in (Tier.READ, Tier.LOCAL_WRITE):
        return allow(f"tier {int(call.tier)}, within budget and grants")
    if known.approved:
        return allow("an operator approved exactly this", Reason.APPROVED)
    why = call.loosens or "reaches outside this machine"
    return Decision(
        verdict=Verdict.NEEDS_APPROVAL,
        reason=Reason.NEEDS_APPROVAL,
        explanation=f"{call.tool} {why} and needs a one-time approval",
    )
