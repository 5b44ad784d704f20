"""What each step does: which domain it is for, and what is called there."""

from collections.abc import Callable
from dataclasses import dataclass

from astra.changes.gathering import Gathering
from astra.changes.reviewing import Remarks
from astra.deployments.changes import AfterChanges
from astra.desires.idle import IdlePolicy
from astra.flow.due import TEST, DueStep
from astra.goals.promotion import Promotions
from astra.plans import book
from astra.plans.allowlist import Allowlist
from astra.plans.book import Plans
from astra.plans.exports import Exports
from astra.schedules.tokens import TokenShelf
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes.merging import Merges

Run = Callable[[DueStep], None]


@dataclass(frozen=True)
class Domains:
    """What steps may act on."""

    approvals: Desk
    tokens: TokenShelf
    promotions: Promotions
    idle: IdlePolicy
    plans: Plans
    exports: Exports
    allowlist: Allowlist


STEPS: dict[str, Callable[[Domains, str], None]] = {
    "expire": lambda domains, subject: domains.approvals.expire(subject),
    "export-token": lambda domains, subject: domains.tokens.export(subject),
    "announce-1": lambda domains, subject: domains.approvals.announce(subject, "announce-1"),
    "announce-2": lambda domains, subject: domains.approvals.announce(subject, "announce-2"),
    "announce-3": lambda domains, subject: domains.approvals.announce(subject, "announce-3"),
    "create-goal": lambda domains, subject: domains.promotions.fulfil(subject),
    "survey": lambda domains, _subject: domains.idle.survey(),
    "ask-approval": lambda domains, subject: domains.plans.ask_anew(subject),
    "approve-plan": lambda domains, subject: domains.plans.fulfil(subject),
    book.REJECT_STEP: lambda domains, subject: domains.plans.follow_rejection(subject),
    "export-plan": lambda domains, subject: domains.exports.export(subject),
    "export-allowlist": lambda domains, _subject: domains.allowlist.export(),
}


@dataclass(frozen=True)
class ChangeWork:
    """What the steps of changes act on."""

    gathering: Gathering
    merges: Merges
    remarks: Remarks
    after: AfterChanges


CHANGE_STEPS: dict[str, Callable[[ChangeWork, str], None]] = {
    "scan": lambda work, change: work.gathering.scan(change),
    TEST: lambda work, change: work.gathering.test(change),
    "ask": lambda work, change: work.merges.ask(change),
    "execute": lambda work, approval: work.merges.execute(approval),
    "merge": lambda work, change: work.merges.merge(change),
    "close": lambda work, change: work.remarks.close(change),
    "deploy": lambda work, change: work.after.deploy_approved(change),
    "record-rollback": lambda work, change: work.after.record_rollback(change),
}


def for_domains(domains: Domains) -> Run:
    return lambda step: STEPS[step.step](domains, step.subject)


def for_changes(work: ChangeWork) -> Run:
    return lambda step: CHANGE_STEPS[step.step](work, step.subject)
