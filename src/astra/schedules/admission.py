"""Before a firing runs: tier and approval are looked at again, then the gate decides.

Since a schedule was made its tool may have changed, gone or become riskier, and what a person
approved may not be what would run. So everything is checked anew, each time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from astra.schedules import tokens
from astra.schedules.model import Firing, Schedule
from astra.schedules.ports import Catalogue, Door, ToolFacts
from astra.schedules.tokens import TokenShelf
from astra.trusted.approvals.desk import LIFETIME, Desk
from astra.trusted.approvals.titles import title_call
from astra.trusted.kernel.clock import Clock, parse_time
from astra.trusted.kernel.errors import AstraError, BadInput, Conflict, NeedsApproval
from astra.trusted.kernel.text import quote_text
from astra.trusted.ledger.ports import Ledger
from astra.trusted.policy import payload
from astra.trusted.policy.call import Call, Tier

_SLACK = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Admission:
    ledger: Ledger
    clock: Clock
    catalogue: Catalogue
    door: Door
    approvals: Desk
    shelf: TokenShelf

    def begin(self, schedule: Schedule, firing: Firing) -> Callable[[], Mapping[str, Any]]:
        """Give what runs the tool, or raise the reason why it may not run."""
        definition = schedule.definition
        facts = self.catalogue.facts(definition.target_tool)
        if facts.tier > definition.safety_tier:
            raise BadInput(
                f"{facts.name} is tier {facts.tier} now; {definition.safety_tier} was declared",
                code="tier_too_low",
                next_step=f"modify the schedule to tier {facts.tier}",
            )
        if definition.safety_tier == Tier.EXTERNAL:
            self._check_token(schedule, self.door.understand(schedule, firing))
        return self.door.begin(schedule, firing)

    def request(self, schedule: Schedule, firing: Firing, *, actor: str) -> str:
        """Ask for an approval of exactly what this firing would run; gives its id."""
        call = self.door.understand(schedule, firing)
        if call.tier is not Tier.EXTERNAL:
            raise Conflict(
                f"{schedule.id} is tier {int(call.tier)} and needs no approval",
                code="needs_none",
                next_step="nothing: it runs within its budget",
            )
        return self._request_approval(schedule, call, actor=actor)

    def facts(self, schedule: Schedule) -> ToolFacts | None:
        """Describe the schedule's tool, or nothing where it is gone."""
        try:
            return self.catalogue.facts(schedule.definition.target_tool)
        except AstraError:
            return None

    def _check_token(self, schedule: Schedule, call: Call) -> None:
        digest = call.digest()
        problem = self.shelf.problem(schedule.id, digest)
        if not problem:
            return
        if self.approvals.find_usable(digest) is None:
            self._request_approval(schedule, call, actor=f"agent:{schedule.id}")
        if problem != tokens.NOTHING_THERE:
            report = self.shelf.report(schedule.id, problem, correlation=call.correlation)
            self.ledger.append([report])
        raise NeedsApproval(
            f"it needs an operator's approval: {problem}",
            next_step=f"astra approve {schedule.id}",
        )

    def _request_approval(self, schedule: Schedule, call: Call, *, actor: str) -> str:
        """Ask; the answer is good until the next firing, however far away that is."""
        payload.refuse_unshowable(call.content())
        now, definition = self.clock.now(), schedule.definition
        following = parse_time(schedule.next_run) if schedule.next_run else now
        until = following + timedelta(seconds=definition.catch_up_seconds) + _SLACK
        return self.approvals.ask(
            kind=tokens.KIND,
            subject_id=schedule.id,
            digest=call.digest(),
            summary=f"schedule {quote_text(definition.name)}: {title_call(call)}",
            details={
                **call.content(),
                "cron_expression": definition.cron_expression,
                "timezone": definition.timezone,
                "next_run": schedule.next_run,
            },
            actor=actor,
            correlation=call.correlation,
            expires_at=max(now + LIFETIME, until),
        )
