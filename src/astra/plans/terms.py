"""What a running plan may do right now, and what a call would need beyond it.

Asked anew for every call, so that a grant taken from the allowlist, or given for one step, counts
at the next one. Relative grants speak of the target's clone. A path is judged as written and as it
resolves: a link inside a granted folder leads nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass

from astra.plans import events
from astra.plans.allowlist import Allowlist
from astra.plans.grants import Item, absolute
from astra.plans.model import AgentPlan, Step
from astra.plans.register import Register
from astra.plans.schema import Permissions
from astra.plans.skills import tools_of
from astra.plans.states import WORKING
from astra.trusted.kernel.errors import Refused
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority, domains
from astra.trusted.policy.call import Call
from astra.trusted.policy.domains import BadDomain
from astra.trusted.policy.grants import GrantKind, GrantPlaces, PathGrants, compile_grants
from astra.trusted.policy.paths import parse_absolute


@dataclass(frozen=True, kw_only=True)
class Terms:
    permissions: Permissions
    code_repo: str
    places: GrantPlaces
    resolve: Callable[[str], str]

    def find_missing_grants(self, call: Call) -> tuple[Item, ...]:
        """Name the narrowest grants that this call would need and the plan does not have."""
        touched = call.footprint
        missing_grants = [("skills", call.tool)] if call.tool not in self._list_tools() else []
        missing_grants += [
            ("write_paths", path) for path in touched.write_paths if not self.writes(path)
        ]
        missing_grants += [
            ("read_paths", path) for path in touched.read_paths if not self.reads(path)
        ]
        missing_grants += [
            ("network_domains", name) for name in touched.domains if not self._can_reach(name)
        ]
        return tuple(dict.fromkeys(missing_grants))

    def _list_tools(self) -> frozenset[str]:
        return tools_of(self.permissions.skills)

    def writes(self, path: str) -> bool:
        return self._allows_path(self._compile_paths(GrantKind.WRITE_PATHS), path)

    def reads(self, path: str) -> bool:
        return self.writes(path) or self._allows_path(
            self._compile_paths(GrantKind.READ_PATHS), path
        )

    def _allows_path(self, granted: PathGrants, path: str) -> bool:
        try:
            places = [parse_absolute(path), parse_absolute(self.resolve(path))]
        except Refused:
            return False
        return all(granted.allows(place) for place in places)

    def _compile_paths(self, kind: GrantKind) -> PathGrants:
        texts = [absolute(path, self.code_repo) for path in self.permissions.list_values(str(kind))]
        return compile_grants(kind, texts, places=self.places)

    def _can_reach(self, name: str) -> bool:
        try:
            domain = domains.parse_grant(name)
        except BadDomain:
            return False
        granted = domains.parse_grants(self.permissions.network_domains)
        ports = (domain.port,) if domain.port else domains.WEB_PORTS
        return all(domains.allows(granted, domain.host, port) for port in ports)


@dataclass(frozen=True, kw_only=True)
class Contracts:
    """Where everybody who acts for a plan asks what it may do."""

    register: Register
    allowlist: Allowlist
    code_repo: str
    places: Callable[[], GrantPlaces]
    resolve: Callable[[str], str]

    def terms(self, identifier: str) -> Terms:
        return self.terms_of(self.permissions(identifier))

    def terms_of(self, permissions: Permissions) -> Terms:
        return Terms(
            permissions=permissions,
            code_repo=self.code_repo,
            places=self.places(),
            resolve=self.resolve,
        )

    def permissions(self, identifier: str) -> Permissions:
        """Give what is granted now: nothing unless the plan works."""
        plan = self.register.get(identifier)
        if plan.grants is None or plan.state not in WORKING:
            return Permissions()
        permissions = plan.grants.in_force(self.allowlist.allows)
        for kind, value in self._for_this_step(plan):
            permissions = permissions.plus(kind, value)
        return permissions

    def find_outside(self, call: Call) -> str:
        """Name the first thing a plan's call would need and does not have, or nothing."""
        missing_grants = self.terms(call.plan_id).find_missing_grants(call) if call.plan_id else ()
        return missing_grants[0][1] if missing_grants else ""

    def budget(self, plan: AgentPlan) -> int:
        """Give the steps of the checkpoint: the plan's, and those that the operator signed for."""
        if not plan.extra:
            return plan.budget
        extensions = [
            record
            for record in self._read_records(plan.id, events.BUDGET_EXTENDED)
            if record.data["checkpoint"] == plan.checkpoint
            and authority.is_signed_by_operator(self.register.ledger, record)
        ]
        return plan.current.step_budget + sum(record.data["steps"] for record in extensions)

    def is_confirmed(self, plan: AgentPlan, step: Step) -> bool:
        """Tell whether the operator signed for exactly this destructive step."""
        if step.confirmed is None or step.confirmed < (step.again or 0):
            return False
        record = self._read_record(step.confirmed)
        fits = record.data["digest"] == step.digest and record.data["agent_id"] == plan.id
        return fits and authority.is_signed_by_operator(self.register.ledger, record)

    def may_run_again(self, plan: AgentPlan, step: Step) -> bool:
        """Tell whether the operator signed that an action which ran may run once more."""
        if step.again is None:
            return False
        record = self._read_record(step.again)
        fits = record.data["digest"] == step.digest and record.data["agent_id"] == plan.id
        return fits and authority.is_signed_by_operator(self.register.ledger, record)

    def _for_this_step(self, plan: AgentPlan) -> tuple[Item, ...]:
        steps = self.register.steps(plan.id, checkpoint=plan.checkpoint)
        if not steps or not steps[-1].allowed or steps[-1].state == "finished":
            return ()
        grant_records = [
            record
            for record in self._granted_once(plan.id, steps[-1].step)
            if record.data["digest"] == steps[-1].digest
            and authority.is_signed_by_operator(self.register.ledger, record)
        ]
        return tuple(
            (kind, value) for record in grant_records for kind, value in record.data["items"]
        )

    def _granted_once(self, identifier: str, step: int) -> list[Record]:
        """Give what was granted this step once, since it was last retried."""
        retried = self._read_records(identifier, events.STEP_RETRIED)
        since = max((retry.sequence for retry in retried if retry.data["step"] == step), default=0)
        return [
            record
            for record in self._read_records(identifier, events.PERMISSION_GRANTED)
            if record.data["once"] and record.data["step"] == step and record.sequence > since
        ]

    def _read_records(self, identifier: str, kind: str) -> list[Record]:
        return self.register.ledger.records_of(identifier, kind)

    def _read_record(self, sequence: int) -> Record:
        record = self.register.ledger.record(sequence)
        assert record is not None  # noqa: S101 - its sequence came from the index
        return record
