"""The counter every door calls at: name and arguments in, an answer or a refusal out.

    rate → find the tool → parse the arguments → compute the footprint → slot → gate → run → record

Whatever happens is in the record, and limits come before it: a call that comes too fast, or while
too many of the same actor run, costs nothing but its refusal, and repeated refusals are counted in
one record (`refusals`).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic import BaseModel

from astra.trusted.calls import cancellation as cancelling
from astra.trusted.calls.cancellation import CallCancelled, Cancellation
from astra.trusted.calls.rate import RateLimit
from astra.trusted.calls.refusals import Refusals
from astra.trusted.calls.registry import AnyTool, Registry, find_defaults
from astra.trusted.calls.slots import Slots
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    Conflict,
    LedgerUnavailable,
    LedgerUncertain,
    NotFound,
    Refused,
)
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import budgets, telemetry
from astra.trusted.policy.call import Actor, Call, Tier
from astra.trusted.policy.decision import Decision, Reason, deny
from astra.trusted.policy.gate import Gate
from astra.trusted.policy.limits import NO_LIMITS, Limits
from astra.trusted.policy.permit import Permit
from astra.trusted.policy.telemetry import Outcome

_WITHOUT_EFFECT = (Refused, BadInput, NotFound, Conflict)
"""What a tool raises before it does anything; what it spent is returned."""


@dataclass(frozen=True, kw_only=True)
class Request:
    name: str
    arguments: Mapping[str, Any]
    actor: Actor
    off: frozenset[str] = frozenset()
    correlation: str | None = None
    schedule_id: str | None = None
    schedule_budget: int = 0
    at_least: Tier = Tier.READ
    plan_id: str | None = None
    limits: Limits = NO_LIMITS
    cancellation: Cancellation = field(default_factory=Cancellation)
    """Where whoever made the call says that they wait for it no longer."""


class CallServices(Protocol):
    """What handlers use; the counter only says on whose behalf."""

    def for_call(self, call: Call, cancellation: Cancellation) -> Any: ...

    def end_boxes(self, correlation: str, why: str) -> int:
        """End what runs in boxes for one call; says how many there were."""
        ...


class Counter:
    def __init__(
        self,
        *,
        registry: Registry,
        gate: Gate,
        ledger: Ledger,
        services: CallServices,
        seconds: Callable[[], float] = time.perf_counter,
        slots: Slots | None = None,
    ) -> None:
        self.registry = registry
        self._gate = gate
        self._ledger = ledger
        self._services = services
        self._seconds = seconds
        self._rate = RateLimit(seconds)
        self._slots = slots or Slots()
        self._refusals = Refusals(seconds, is_tool=registry.has)

    def call(self, request: Request) -> dict[str, Any]:
        """Run a tool for somebody, or raise the error that says why not."""
        return self.begin(request)()

    def begin(self, request: Request) -> Callable[[], dict[str, Any]]:
        """Pass the gate, or raise its refusal; what it gives back runs the tool, once."""
        if not self._rate.take(str(request.actor)):
            raise self._record_refusal(_call_from_request(request), _too_many())
        tool, parsed, call = self._parse_request(request)
        if request.cancellation.is_asked():
            raise self._record_refusal(call, _cancelled())
        if objection := self._slots.take(call, boxed=tool.slow):
            raise self._record_refusal(call, objection)
        try:
            decision, permit = self._pass_gate(call, request.off)
        except BaseException:  # refused or broken: raised again, and nothing runs
            self._slots.give_back(call, boxed=tool.slow)
            raise
        admitted = _Admitted(call, decision, permit, request.cancellation)
        return lambda: self._run_tool(tool, parsed, admitted)

    def cancel(self, request: Request) -> int:
        """Hear that nobody waits for a call any more; says how many boxes were ended for it.

        A box that starts in this moment is not there yet: whoever cancels asks until it is over.
        """
        request.cancellation.ask()
        if not request.correlation:
            return 0
        return self._services.end_boxes(request.correlation, cancelling.WHY)

    def _pass_gate(self, call: Call, off: frozenset[str]) -> tuple[Decision, Permit]:
        decision, permit = self._gate.admit(call, off=off)
        if permit is None:
            raise self._record_refusal(call, decision)
        return decision, permit

    def record_refusals(self, *, leaving: bool = False) -> None:
        """Record the counts of repeated refusals that are due; all of them when leaving."""
        if events := self._refusals.due(leaving=leaving):
            self._ledger.append(events, lazy=True)

    def understand(self, request: Request) -> Call:
        """Work out exactly what a request would run, without running it."""
        _, _, call = self._parse_request(request)
        return call

    def turn_away(self, request: Request, decision: Decision, *, again: bool = False) -> AstraError:
        """Record what a door refuses of its own accord, and give the error to show.

        What it refused before (`again`) is counted and has no record of its own.
        """
        if again:
            events = self._refusals.count(_call_from_request(request), decision)
            if events:
                self._ledger.append(events, lazy=True)
            return decision.as_error()
        if not self._rate.take(str(request.actor)):
            return self._record_refusal(_call_from_request(request), _too_many())
        return self._record_refusal(_call_from_request(request), decision)

    def _parse_request(self, request: Request) -> tuple[AnyTool, BaseModel, Call]:
        """Make a call of a request; what is closed anyway says so before its arguments matter."""
        call = _call_from_request(request)
        try:
            tool = self.registry.find(request.name)
            call = _of_tool(call, tool, request.at_least)
            if objection := self._gate.deny_unreachable(call, off=request.off):
                raise objection.as_error()
            parsed = tool.parse(request.arguments)
            call = replace(
                call,
                arguments=parsed.model_dump(mode="json"),
                footprint=tool.footprint(parsed, self._services),
                defaults=find_defaults(parsed),
                words=tool.words(parsed, self._services) if tool.words else "",
                **self._find_limited_facts(tool, parsed, request.limits),
            )
            if tool.loosens and (loosened := tool.loosens(parsed, self._services)):
                call = replace(call, tier=Tier.EXTERNAL, loosens=loosened)
            call.digest()
        except AstraError as error:
            self._record_refusal(
                call, deny(_reason_from_error(error), error.detail, error.next_step)
            )
            raise
        return tool, parsed, call

    def _find_limited_facts(
        self, tool: AnyTool, parsed: BaseModel, limits: Limits
    ) -> dict[str, Any]:
        """Find out what only limits look at: the files it touches, what it has run later."""
        if not limits.narrow_calls:
            return {}
        touched = tool.files(parsed, self._services) if limits.paths else ()
        names = [tool.runs_later(parsed, self._services)] if tool.runs_later else []
        tools = [self.registry.find(name) for name in names]
        return {"touched": touched, "later": tuple((t.name, int(t.tier)) for t in tools)}

    def _run_tool(self, tool: AnyTool, parsed: BaseModel, admitted: "_Admitted") -> dict[str, Any]:
        call, permit = admitted.call, admitted.permit
        began = self._seconds()
        code, size, is_without_effect = "failed", 0, False
        try:
            services = self._services.for_call(call, admitted.cancellation)
            answer = tool.run(permit, call.digest(), parsed, services)
            document: dict[str, Any] = answer.model_dump(mode="json")
            code, size = "ok", len(answer.model_dump_json())
        except AstraError as error:
            code, is_without_effect = error.reason, isinstance(error, _WITHOUT_EFFECT)
            if admitted.cancellation.is_asked():
                code = CallCancelled.code  # whatever else its end looked like from inside
            raise
        else:
            return document
        finally:
            self._slots.give_back(call, boxed=tool.slow)
            outcome = Outcome(
                ok=code == "ok",
                code=code,
                milliseconds=(self._seconds() - began) * 1000,
                size=size,
            )
            events = [
                telemetry.build_finished_event(call, permit.call_id, admitted.decision, outcome)
            ]
            if is_without_effect:
                events += budgets.build_return_events(self._ledger, permit.spent, call)
            may_have_acted = call.tier is not Tier.READ and not is_without_effect
            self._record_end(call, events, may_have_acted=may_have_acted)

    def _record_end(self, call: Call, events: list[Event], *, may_have_acted: bool) -> None:
        """Write down how a call ended; what may have acted is never said not to have happened."""
        is_telemetry = call.tier is Tier.READ and len(events) == 1
        try:
            self._ledger.append(events, lazy=is_telemetry)
        except LedgerUnavailable as error:
            if not may_have_acted:
                raise
            raise LedgerUncertain(
                f"{call.tool} ran, and how it ended could not be recorded: {error.detail}",
                next_step="look at what it did before you call it again",
            ) from error

    def _record_refusal(self, call: Call, decision: Decision) -> AstraError:
        try:
            if events := self._refusals.note(call, decision):
                self._ledger.append(events, lazy=True)
        except LedgerUnavailable:
            # On a full disk the caller hears why; a refusal has no effect that needs a record.
            if decision.reason is not Reason.DISK_LOW:
                raise
        return decision.as_error()


@dataclass(frozen=True)
class _Admitted:
    """A call that passed the gate."""

    call: Call
    decision: Decision
    permit: Permit
    cancellation: Cancellation


def _cancelled() -> Decision:
    error = cancelling.build_error()
    return deny(Reason.CANCELLED, error.detail, error.next_step)


def _call_from_request(request: Request) -> Call:
    return Call(
        tool=request.name[:100],
        tier=Tier.READ,
        actor=request.actor,
        arguments=request.arguments,
        correlation=request.correlation or random_id("cor"),
        schedule_id=request.schedule_id,
        schedule_budget=request.schedule_budget,
        plan_id=request.plan_id,
        limits=request.limits,
    )


def _of_tool(call: Call, tool: AnyTool, at_least: Tier) -> Call:
    """Take what the tool is; a caller may ask for a stricter tier, never for a looser one.

    A plan's grants stand for the one-time approval that reaching outside takes otherwise; the gate
    denies whatever they do not cover.
    """
    tier = tool.tier_in_plan if call.plan_id and tool.tier_in_plan is not None else tool.tier
    return replace(
        call,
        tool=tool.name,
        tier=max(tier, at_least),
        flags=tool.flags,
        operator_only=tool.operator_only,
        available=tool.available,
        server=tool.server,
        server_budget=tool.server_budget,
    )


def _reason_from_error(error: AstraError) -> Reason:
    """Name the reason; what is not in the closed list was a path that may not be touched."""
    if error.reason in set(Reason):
        return Reason(error.reason)
    return Reason.BAD_ARGUMENTS if isinstance(error, BadInput) else Reason.PATH_REFUSED


def _too_many() -> Decision:
    return deny(
        Reason.TOO_MANY_CALLS, "too many calls in a short time", "wait a few seconds between calls"
    )
