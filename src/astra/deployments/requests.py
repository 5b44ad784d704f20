"""Asking for a deployment or a rollback: who may, what exactly, and one at a time."""

from dataclasses import dataclass
from typing import Any

from astra.deployments import events, views
from astra.deployments.ports import Approved, Verdict
from astra.deployments.views import Deployment, Release
from astra.trusted.changes import quarantine
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import Conflict, NeedsApproval, NotFound, Refused, StaleVersion
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import current_time
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed

_SHORT = 12


class NotApproved(Refused):
    code = "not_approved"


class InQuarantine(Refused):
    code = "quarantined"


@dataclass(frozen=True, kw_only=True)
class Requests:
    ledger: Ledger
    clock: Clock
    approved: Approved

    def deploy(
        self, change: str | None, *, actor: str, correlation: str = "", signed: Signed | None = None
    ) -> Deployment:
        """Have an approved commit deployed; an operator's signed order may force it."""
        verdict = self.approved.may_deploy(change)
        order = [] if signed is None else [self._make_order_event(verdict, signed)]
        if not (order and order[0].data["force"]):
            _refuse_unapproved(
                verdict, views.quarantine_reason(self.ledger, verdict.commit), ordered=bool(order)
            )
        accepted = (*verdict.despite, *(quarantine.read_accepted(order[0].data) if order else ()))
        short = verdict.commit[:_SHORT]
        quarantine.refuse_unnamed(short, verdict.contains, accepted, command="astra deploy")
        identifier = random_id("dep")
        data = {
            "deployment": identifier,
            "kind": "deploy",
            "release": self._name_release(verdict.commit),
            "commit": verdict.commit,
            "digest": verdict.digest,
            "change": verdict.change,
            "contains": list(verdict.contains),
        }
        return self._append_request(identifier, data, order, actor=actor, correlation=correlation)

    def roll_back(self, release: str | None, signed: Signed) -> Deployment:
        """Put a kept release into service again, on the operator's signed word."""
        target, serving = self.choose(release), views.live_release(self.ledger)
        keep_state = bool(signed.statement.get("content", {}).get("keep_state"))
        content = events.rollback_content(
            release=target.id, serving=serving.id if serving else "", keep_state=keep_state
        )
        order = Event(type=events.ROLLBACK_ORDERED, actor="operator", data=content)
        order = authority.signed_event(self.ledger, order, signed, now=self.clock.now())
        identifier = random_id("dep")
        data = {
            "deployment": identifier,
            "kind": "rollback",
            "release": target.id,
            "commit": target.commit_id,
            "digest": "",
            "change": "",
            "keep_state": keep_state,
        }
        return self._append_request(
            identifier, data, [order], actor="operator", correlation=order.correlation
        )

    def choose(self, release: str | None) -> Release:
        """Give the release that is meant; without a name, the last good one before this."""
        serving = views.live_release(self.ledger)
        if release is None:
            good_releases = views.good_releases(self.ledger, besides=serving.id if serving else "")
            if not good_releases:
                raise NotFound(
                    "there is no proven release to go back to", next_step="astra releases"
                )
            return good_releases[0]
        chosen_release = views.release(self.ledger, release)
        if chosen_release is None or chosen_release.state == "removed":
            raise NotFound(f"there is no kept release {release[:100]}", next_step="astra releases")
        if chosen_release.live:
            raise Conflict(f"{chosen_release.id} is live already", next_step="astra releases")
        return chosen_release

    def _make_order_event(self, verdict: Verdict, signed: Signed) -> Event:
        statement_content = signed.statement.get("content", {})
        content = events.order_content(
            commit=verdict.commit,
            digest=verdict.digest,
            force=bool(statement_content.get("force")),
            despite=quarantine.read_accepted(statement_content),
        )
        event = Event(type=events.ORDERED, actor="operator", data=content)
        return authority.signed_event(self.ledger, event, signed, now=self.clock.now())

    def _append_request(
        self,
        identifier: str,
        data: dict[str, Any],
        order: list[Event],
        *,
        actor: str,
        correlation: str,
    ) -> Deployment:
        """Record the request, unless another deployment is under way or came first."""
        version = self._read_queue_version()
        if busy := views.open_deployment(self.ledger):
            raise _busy_conflict(busy.id)
        event = Event(
            type=events.REQUESTED,
            actor=actor,
            data=data,
            subject=events.QUEUE,
            correlation=correlation or random_id("cor"),
        )
        try:
            self.ledger.append([*order, event], expect={events.QUEUE: version})
        except StaleVersion:
            raise _busy_conflict("another one") from None
        deployment = views.deployment(self.ledger, identifier)
        assert deployment is not None  # noqa: S101 - just appended
        return deployment

    def _read_queue_version(self) -> int:
        return self.ledger.version(events.QUEUE)

    def _name_release(self, commit: str) -> str:
        """Name a release by time and commit; two in the same second get different times."""
        moment = format_time(current_time(self.clock.now(), self.ledger.head()))[:19]
        stem = moment.replace("-", "").replace(":", "")
        for number in range(100):
            name = f"{stem}{'' if number == 0 else f'.{number}'}Z-{commit[:_SHORT]}"
            if views.release(self.ledger, name) is None and not self._is_name_taken(name):
                return name
        raise Conflict("too many releases in one second", next_step="try again")

    def _is_name_taken(self, name: str) -> bool:
        return bool(self.ledger.query("SELECT 1 FROM deployment WHERE release = ?", [name]))


def _refuse_unapproved(verdict: Verdict, quarantine: str, *, ordered: bool) -> None:
    """Refuse what may not be deployed; a signed order is a fresh word where one went stale."""
    if quarantine:
        raise InQuarantine(
            f"{verdict.commit[:_SHORT]} was deployed before and failed: {quarantine}",
            next_step="deploy a new change; an operator can insist with `astra deploy --force`",
            commit=verdict.commit,
        )
    if verdict.allowed or (verdict.stale and ordered):
        return
    if verdict.approval_id:
        raise NeedsApproval(
            verdict.reason or "a person has to approve this commit first",
            next_step=f"astra approve {verdict.approval_id}",
            approval_id=verdict.approval_id,
            commit=verdict.commit,
        )
    raise NotApproved(
        verdict.reason or "this commit is not approved",
        next_step=verdict.next_step or "astra approvals",
        code=verdict.code or None,
        commit=verdict.commit,
        tests_passed=verdict.tests_passed,
        human_approval_required=verdict.human_approval_required,
        stale=verdict.stale,
    )


def _busy_conflict(which: str) -> Conflict:
    return Conflict(
        f"{which} is being deployed right now; one at a time",
        code="deploying",
        next_step="wait until it is settled (astra releases), then try again",
    )
