"""Every lane but the schedules' (`firings`): what is due in it, and how that is done."""

from collections.abc import Callable, Sequence

from astra.deployments import views as deployments
from astra.deployments.service import Deployer
from astra.flow.due import CHANGES, QUICK, TEST, DueStep, due_steps, next_due
from astra.flow.lane import Lane, WorkItem
from astra.flow.steps import ChangeWork, Domains, Run, for_changes, for_domains
from astra.notifications.outbox import Notification, Outbox
from astra.plans.drafting import Drafting
from astra.plans.runner import Runner
from astra.plans.talk import Announcements
from astra.trusted.changes import events as changes
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import current_time

PLANS, DRAFTS, PLAN_FILES = "plans", "drafts", "plan-files"
ANNOUNCEMENTS, DEPLOYMENTS, NOTIFICATIONS = "announcements", "deployments", "notifications"
APP_EGRESS, WITNESS, REFUSALS = "app-egress", "witness", "refusals"
OF_PLANS = (PLANS, DRAFTS, PLAN_FILES, ANNOUNCEMENTS)
CHANGES_AT_ONCE, DRAFTS_AT_ONCE = 4, 2
_GRACE, _LONGEST_GOODBYE = 5.0, 10.0
_LOOK_AT_APP, _LOOK_AT_FILES, _LOOK_AT_EGRESS = 1.0, 2.0, 5.0
_LOOK_AT_CHECKPOINTS, _LOOK_AT_REFUSALS = 2.0, 30.0


def quick_lane(
    ledger: Ledger, clock: Clock, domains: Domains, closed: Callable[[], str] = str
) -> Lane:
    """Run what only appends or writes a small file: one at a time, in order."""
    due, coming = _steps(ledger, clock, QUICK, for_domains(domains))
    return Lane(name=QUICK, due=due, next_due=coming, closed=closed)


def changes_lane(ledger: Ledger, clock: Clock, work: ChangeWork, closed: Callable[[], str]) -> Lane:
    """Run the steps of changes: several at once, none while code writing is off or all stopped."""
    due, coming = _steps(ledger, clock, CHANGES, for_changes(work), _ender(work))
    return Lane(
        name=CHANGES,
        due=due,
        next_due=coming,
        workers=CHANGES_AT_ONCE,
        closed=closed,
        holds_daemon=lambda: bool(due()) and not closed(),
        failure=change_step_failed,
        grace=_GRACE,
    )


def change_step_failed(item: WorkItem, why: str) -> Event:
    data = {"step": item.action, "about": item.subject, "why": one_line(why, 1000)}
    return Event(type=changes.STEP_FAILED, actor=changes.DAEMON, data=data)


def plan_lanes(
    runner: Runner, drafting: Drafting, announcements: Announcements
) -> tuple[Lane, ...]:
    """Take steps of plans, call models for drafts, look after files, announce what plans said."""

    def step(plan: str) -> WorkItem:
        return _item("step", plan, lambda: _ignore(runner.step(plan)))

    def draft(plan: str) -> WorkItem:
        return _item("draft", plan, lambda: drafting.advance(plan))

    def announce(plan: str) -> WorkItem:
        return _item("announce", plan, lambda: _ignore(announcements.announce(plan)))

    watch = _item("watch", "plan files", runner.watch, every=_LOOK_AT_FILES)
    return (
        Lane(
            name=PLANS,
            due=lambda: [step(plan) for plan in runner.due()],
            workers=max(runner.most_at_once, 1),
            holds_daemon=lambda: bool(runner.due()),
            breath=0.05,
            look_again=2.0,
            longest_pause=5.0,
        ),
        Lane(
            name=DRAFTS,
            due=lambda: [draft(plan.id) for plan in drafting.due()],
            workers=DRAFTS_AT_ONCE,
            holds_daemon=lambda: bool(drafting.due()),
            breath=0.05,
            look_again=2.0,
            longest_pause=5.0,
        ),
        Lane(name=PLAN_FILES, due=lambda: [watch], breath=0.05, longest_pause=5.0),
        Lane(
            name=ANNOUNCEMENTS,
            due=lambda: [announce(plan) for plan in announcements.due()],
            next_due=announcements.next_due,
            breath=0.5,
        ),
    )


def deployments_lane(deployer: Deployer) -> Lane:
    """Do the next step of the deployment under way; between deployments, keep the app up."""
    work, ledger = deployer.work, deployer.stage.ledger

    def due() -> Sequence[WorkItem]:
        if not deployer.settled:
            return [_item("settle", "deployments", deployer.settle)]
        if under_way := deployments.open_deployment(ledger):
            return [_item(under_way.state, under_way.id, lambda: _ignore(work.advance()))]
        if settled := deployer.due_push():
            return [_item("push", settled.id, lambda: _ignore(deployer.pushing.advance()))]
        keep = _item("keep-serving", "the app", deployer.keep_serving, every=_LOOK_AT_APP)
        return [keep] if deployer.keeps_app else []

    return Lane(
        name=DEPLOYMENTS,
        due=due,
        closed=lambda: "stopped" if deployer.stage.stopped() else "",
        holds_daemon=deployer.busy,
        leave=deployer.leave,
        breath=0.05,
        longest_pause=5.0,
    )


def app_egress_lane(deployer: Deployer) -> Lane:
    """Record what the app connected to, beside deployments: those can take minutes."""
    record = _item("record", "app egress", deployer.record_egress, every=_LOOK_AT_EGRESS)
    return Lane(name=APP_EGRESS, due=lambda: [record], breath=0.05, longest_pause=5.0)


def notifications_lane(outbox: Outbox) -> Lane:
    """Send notifications, beside everything else: a slow service holds up nobody."""

    def send(notification: Notification) -> WorkItem:
        return WorkItem(
            key=notification.key,
            action="send",
            subject=f"notice {notification.notice.sequence} to {notification.channel}",
            run=lambda: outbox.send(notification),
        )

    return Lane(
        name=NOTIFICATIONS,
        due=lambda: [send(notification) for notification in outbox.due()],
        grace=_LONGEST_GOODBYE,
        breath=0.5,
        longest_pause=60.0,
    )


def witness_lane(*, due: Callable[[], bool], advance: Callable[[], None]) -> Lane:
    """Hand checkpoints over to the witness, beside everything else."""
    item = _item("publish", "checkpoints", advance, every=_LOOK_AT_CHECKPOINTS)
    return Lane(
        name=WITNESS,
        due=lambda: [item] if due() else [],
        grace=_GRACE,
        breath=0.5,
        look_again=1.0,
        longest_pause=60.0,
    )


def refusals_lane(record: Callable[[], None]) -> Lane:
    """Record how often refusals were repeated, also when nobody calls any more."""
    item = _item("record", "refusals", record, every=_LOOK_AT_REFUSALS)
    return Lane(name=REFUSALS, due=lambda: [item], breath=0.5, longest_pause=60.0)


def _steps(
    ledger: Ledger,
    clock: Clock,
    lane: str,
    run: Run,
    ender: Callable[[DueStep], Callable[[], None] | None] = lambda _step: None,
) -> tuple[Callable[[], Sequence[WorkItem]], Callable[[], str | None]]:
    """Give the questions of a lane whose due steps are rows of the index (`due`)."""

    def now() -> str:
        """Give the time that counts: a clock that was set back makes nothing wait."""
        return format_time(current_time(clock.now(), ledger.head()))

    def item(step: DueStep) -> WorkItem:
        return WorkItem(
            key=step.key,
            action=step.step,
            subject=step.subject,
            entity=step.entity,
            run=lambda: run(step),
            end=ender(step),
        )

    def coming() -> str | None:
        step = next_due(ledger, lane, after=now())
        return step.due if step else None

    return lambda: [item(step) for step in due_steps(ledger, lane, now())], coming


def _ender(work: ChangeWork) -> Callable[[DueStep], Callable[[], None] | None]:
    """Say how the tests of a change that was decided on meanwhile are cut short."""

    def ender(step: DueStep) -> Callable[[], None] | None:
        if step.step != TEST:
            return None
        return lambda: work.gathering.cut_short(step.subject)

    return ender


def _item(action: str, subject: str, run: Callable[[], None], *, every: float = 0.0) -> WorkItem:
    key = f"{action} {subject}"
    return WorkItem(key=key, action=action, subject=subject, run=run, every=every)


def _ignore(_answer: object) -> None:
    """Drop an answer: what happened is in the ledger."""
