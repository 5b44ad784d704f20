"""What each step does: which domain it is for, and what is called there."""

from collections.abc import Callable
from dataclasses import dataclass

from astra.changes.gathering import Gathering
from astra.changes.reviewing import Remarks
from astra.deployments.changes import AfterChanges
from astra.deployments.repairs import Repairs
from astra.desires.idle import IdlePolicy
from astra.flow.due import TEST, DueStep
from astra.flow.of_changes import SERVICE_STEP, list_moved_changes
from astra.goals.adoption import Adoption
from astra.goals.of_desires import DesireAdoption
from astra.goals.promotion import Promotions
from astra.plans import book
from astra.plans.allowlist import Allowlist
from astra.plans.book import Plans
from astra.plans.exports import Exports
from astra.schedules.tokens import TokenShelf
from astra.spend import raising
from astra.spend.raising import SignedRaises
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes.merging import Merges
from astra.trusted.upstream.sync import STEP

Run = Callable[[DueStep], None]


@dataclass(frozen=True)
class Domains:
    """What steps may act on."""

    approvals: Desk
    tokens: TokenShelf
    promotions: Promotions
    adoption: Adoption
    repairs: Repairs
    idle: IdlePolicy
    plans: Plans
    exports: Exports
    allowlist: Allowlist
    bring_in: Callable[[str], None]
    """Brings the upstream's commits in that an approval is for."""
    raises: SignedRaises

    @property
    def of_desires(self) -> DesireAdoption:
        return DesireAdoption(promotions=self.promotions, adoption=self.adoption)


STEPS: dict[str, Callable[[Domains, str], None]] = {
    "expire": lambda domains, subject: domains.approvals.expire(subject),
    "export-token": lambda domains, subject: domains.tokens.export(subject),
    "announce-1": lambda domains, subject: domains.approvals.announce(subject, "announce-1"),
    "announce-2": lambda domains, subject: domains.approvals.announce(subject, "announce-2"),
    "announce-3": lambda domains, subject: domains.approvals.announce(subject, "announce-3"),
    "create-goal": lambda domains, subject: domains.promotions.fulfil(subject),
    "plan-goal": lambda domains, subject: domains.adoption.plan(subject),
    "adopt-goal": lambda domains, subject: domains.adoption.fulfil(subject),
    "adopt-desire": lambda domains, subject: domains.of_desires.fulfil(subject),
    "propose-repair": lambda domains, subject: domains.repairs.propose(subject),
    "settle-repair": lambda domains, subject: domains.adoption.settle(subject),
    "survey": lambda domains, _subject: domains.idle.survey(),
    "ask-approval": lambda domains, subject: domains.plans.ask_anew(subject),
    "approve-plan": lambda domains, subject: domains.plans.fulfil(subject),
    book.REJECT_STEP: lambda domains, subject: domains.plans.follow_rejection(subject),
    "export-plan": lambda domains, subject: domains.exports.export(subject),
    STEP: lambda domains, subject: domains.bring_in(subject),
    raising.STEP: lambda domains, subject: domains.raises.fulfil(subject),
    "export-allowlist": lambda domains, _subject: domains.allowlist.export(),
}


@dataclass(frozen=True)
class ChangeWork:
    """What the steps of changes act on."""

    gathering: Gathering
    merges: Merges
    remarks: Remarks
    after: AfterChanges

    def list_moved(self, live: str) -> list[str]:
        return list_moved_changes(self.after.changes.bench.ledger, live)


CHANGE_STEPS: dict[str, Callable[[ChangeWork, str], None]] = {
    "scan": lambda work, change: work.gathering.scan(change),
    TEST: lambda work, change: work.gathering.test(change),
    "ask": lambda work, change: work.merges.ask(change),
    "execute": lambda work, approval: work.merges.execute(approval),
    "merge": lambda work, change: work.merges.merge(change),
    "close": lambda work, change: work.remarks.close(change),
    "deploy": lambda work, change: work.after.deploy_approved(change),
    SERVICE_STEP: lambda work, release: work.after.record_service(release, work.list_moved),
}


def make_domain_runner(domains: Domains) -> Run:
    return lambda step: STEPS[step.step](domains, step.subject)


def make_change_runner(work: ChangeWork) -> Run:
    return lambda step: CHANGE_STEPS[step.step](work, step.subject)
