"""Every lane but the schedules' (`firings`): what is due in it, and how that is done."""

from collections.abc import Callable, Sequence

from astra.deployments import views as deployments
from astra.deployments.service import Deployer
from astra.flow.due import CHANGES, QUICK, TEST, DueStep, due_steps, next_due
from astra.flow.lane import APP_LEASE, EACH_MACHINE, Lane, WorkItem
from astra.flow.steps import ChangeWork, Domains, Run, make_change_runner, make_domain_runner
from astra.goals.proposals import ModelProposals
from astra.goals.running import DueTask, TaskRunner
from astra.notifications.outbox import Notification, Outbox
from astra.plans.drafting import Drafting
from astra.plans.runner import Runner
from astra.plans.talk import Announcements
from astra.research.running import Researcher
from astra.trusted.changes import events as changes
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.text import one_line
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.ledger.timekeeping import current_time
from astra.workers.reaping import Reaper

PLANS, DRAFTS, PLAN_FILES = "plans", "drafts", "plan-files"
ANNOUNCEMENTS, DEPLOYMENTS, NOTIFICATIONS = "announcements", "deployments", "notifications"
APP_EGRESS, WITNESS, REFUSALS, GOALS = "app-egress", "witness", "refusals", "goals"
SYNC, PUSHES, CLONE, ALERTS = "sync", "pushes", "clone", "alerts"
RESEARCH, BELIEFS, SERVERS, STOP = "research", "beliefs", "servers", "stop"
REAPING, TRACES, NEXT_INDEX = "reaping", "traces", "next-index"
OF_PLANS = (PLANS, DRAFTS, PLAN_FILES, ANNOUNCEMENTS)
CHANGES_AT_ONCE, DRAFTS_AT_ONCE, GOAL_TASKS_AT_ONCE = 4, 2, 10
SERVERS_AT_ONCE = 4
_GRACE, _LONGEST_GOODBYE = 5.0, 10.0
_LOOK_AT_APP, _LOOK_AT_FILES, _LOOK_AT_EGRESS = 1.0, 2.0, 5.0
_LOOK_AT_SERVERS, _LOOK_AT_TRACES = 5.0, 2.0
_LOOK_AT_CHECKPOINTS, _LOOK_AT_REFUSALS, _LOOK_AT_ALERTS = 2.0, 30.0, 30.0
_LOOK_AT_INSTALLED = 30.0


def quick_lane(
    ledger: Ledger, clock: Clock, domains: Domains, closed: Callable[[], str] = str
) -> Lane:
    """Run what only appends or writes a small file: one at a time, in order."""
    due, next_due_time = _make_step_queries(ledger, clock, QUICK, make_domain_runner(domains))
    return Lane(name=QUICK, due=due, next_due=next_due_time, closed=closed)


def changes_lane(ledger: Ledger, clock: Clock, work: ChangeWork, closed: Callable[[], str]) -> Lane:
    """Run the steps of changes: several at once, none while code writing is off or all stopped."""
    due, next_due_time = _make_step_queries(
        ledger, clock, CHANGES, make_change_runner(work), _make_ender(work)
    )
    return Lane(
        name=CHANGES,
        due=due,
        next_due=next_due_time,
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
        return _make_item("step", plan, lambda: _ignore_answer(runner.step(plan)))

    def draft(plan: str) -> WorkItem:
        return _make_item("draft", plan, lambda: drafting.advance(plan))

    def announce(plan: str) -> WorkItem:
        return _make_item("announce", plan, lambda: _ignore_answer(announcements.announce(plan)))

    watch = _make_item("watch", "plan files", runner.watch, every=_LOOK_AT_FILES)
    return (
        Lane(
            name=PLANS,
            due=lambda: [step(plan) for plan in runner.list_due()],
            workers=max(runner.most_at_once, 1),
            holds_daemon=lambda: bool(runner.list_due()),
            breath=0.05,
            look_again=2.0,
            longest_pause=5.0,
        ),
        Lane(
            name=DRAFTS,
            due=lambda: [draft(plan.id) for plan in drafting.list_due()],
            workers=DRAFTS_AT_ONCE,
            holds_daemon=lambda: bool(drafting.list_due()),
            breath=0.05,
            look_again=2.0,
            longest_pause=5.0,
        ),
        Lane(name=PLAN_FILES, due=lambda: [watch], breath=0.05, longest_pause=5.0),
        Lane(
            name=ANNOUNCEMENTS,
            due=lambda: [announce(plan) for plan in announcements.list_due()],
            next_due=announcements.next_due,
            breath=0.5,
        ),
    )


def goals_lane(runner: TaskRunner, proposals: ModelProposals) -> Lane:
    """Run tasks of goals, several at once, and ask models for those that no method fits."""

    def item(task: DueTask) -> WorkItem:
        return WorkItem(
            key=task.key,
            action=task.action,
            subject=task.goal,
            entity=f"{task.goal} {task.node}",
            run=lambda: runner.run_on(task),
            end=lambda: runner.end(task),
            every=task.every,
        )

    def propose(goal: str) -> WorkItem:
        return _make_item("decompose", goal, lambda: proposals.advance(goal))

    def due() -> list[WorkItem]:
        tasks = [item(task) for task in runner.list_due()]
        return [*tasks, *(propose(goal) for goal in proposals.list_due())]

    return Lane(
        name=GOALS,
        due=due,
        workers=GOAL_TASKS_AT_ONCE,
        closed=runner.closed,
        holds_daemon=lambda: any(work.action != "look" for work in due()),
        grace=_GRACE,
        breath=0.05,
        look_again=1.0,
        longest_pause=5.0,
    )


def research_lane(researcher: Researcher) -> Lane:
    """Go on with research that a daemon left open when it died."""

    def resume(session: str) -> WorkItem:
        return _make_item("resume", session, lambda: researcher.resume(session))

    return Lane(
        name=RESEARCH,
        due=lambda: [resume(session) for session in researcher.list_due()],
        closed=researcher.closed,
        holds_daemon=lambda: bool(researcher.list_due()),
        grace=_GRACE,
        breath=0.5,
        look_again=2.0,
        longest_pause=60.0,
    )


def deployments_lane(deployer: Deployer) -> Lane:
    """Do the next step of the deployment under way; between deployments, keep the app up."""
    work, ledger = deployer.work, deployer.stage.ledger

    def due() -> Sequence[WorkItem]:
        if not deployer.settled:
            return [_make_item("settle", "deployments", deployer.settle)]
        if under_way := deployments.open_deployment(ledger):
            return [
                _make_item(under_way.state, under_way.id, lambda: _ignore_answer(work.advance()))
            ]
        keep = _make_item("keep-serving", "the app", deployer.keep_serving, every=_LOOK_AT_APP)
        return [keep] if deployer.keeps_app else []

    return Lane(
        name=DEPLOYMENTS,
        due=due,
        closed=lambda: "stopped" if deployer.stage.stopped() else "",
        holds_daemon=deployer.is_busy,
        leave=deployer.leave,
        lease=APP_LEASE,
        begin_term=deployer.begin_term,
        breath=0.05,
        longest_pause=5.0,
    )


def pushes_lane(deployer: Deployer) -> Lane:
    """Push what settled, beside deployments: a slow remote holds up no release."""

    def due() -> Sequence[WorkItem]:
        settled = deployer.due_push()
        if settled is None:
            return []
        return [_make_item("push", settled.id, lambda: _ignore_answer(deployer.pushing.advance()))]

    return Lane(
        name=PUSHES,
        due=due,
        closed=lambda: "stopped" if deployer.stage.stopped() else "",
        holds_daemon=lambda: bool(due()),
        lease=APP_LEASE,
        grace=_GRACE,
        breath=0.05,
        longest_pause=60.0,
    )


def app_egress_lane(deployer: Deployer) -> Lane:
    """Record what the app connected to, beside deployments: those can take minutes."""
    record = _make_item("record", "app egress", deployer.record_egress, every=_LOOK_AT_EGRESS)
    return Lane(
        name=APP_EGRESS, due=lambda: [record], lease=EACH_MACHINE, breath=0.05, longest_pause=5.0
    )


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
    item = _make_item("publish", "checkpoints", advance, every=_LOOK_AT_CHECKPOINTS)
    return Lane(
        name=WITNESS,
        lease=EACH_MACHINE,
        due=lambda: [item] if due() else [],
        grace=_GRACE,
        breath=0.5,
        look_again=1.0,
        longest_pause=60.0,
    )


def traces_lane(*, is_due: Callable[[], bool], advance: Callable[[], None]) -> Lane:
    """Send stories to the collector, beside everything else."""
    item = _make_item("send", "traces", advance, every=_LOOK_AT_TRACES)
    return Lane(
        name=TRACES,
        due=lambda: [item] if is_due() else [],
        grace=_GRACE,
        breath=_LOOK_AT_TRACES,
        longest_pause=60.0,
    )


def sync_lane(
    *, minutes: Callable[[], int], look: Callable[[], object], stopped: Callable[[], bool]
) -> Lane:
    """Look at the upstream now and then, where the signed configuration says how often."""

    def due() -> Sequence[WorkItem]:
        seconds = minutes() * 60.0
        look_item = _make_item("look", "upstream", lambda: _ignore_answer(look()), every=seconds)
        return [look_item] if seconds else []

    return Lane(
        name=SYNC,
        due=due,
        closed=lambda: "stopped" if stopped() else "",
        grace=_GRACE,
        breath=0.5,
        look_again=30.0,
        longest_pause=600.0,
    )


def servers_lane(
    *,
    list_due: Callable[[], Sequence[str]],
    look: Callable[[str], None],
    settle: Callable[[], None],
    closed: Callable[[], str],
) -> Lane:
    """Look at the tools of servers that were signed for, and end those that are not any more."""
    settling = _make_item("settle", "servers", settle, every=_LOOK_AT_SERVERS)

    def due() -> Sequence[WorkItem]:
        looks = [_make_item("look", name, lambda name=name: look(name)) for name in list_due()]
        return [*looks, settling]

    return Lane(
        name=SERVERS,
        lease=EACH_MACHINE,
        due=due,
        workers=SERVERS_AT_ONCE,
        closed=closed,
        grace=_GRACE,
        breath=0.5,
        longest_pause=60.0,
    )


def beliefs_lane(*, is_due: Callable[[], bool], record: Callable[[], None]) -> Lane:
    """Record which beliefs the newest outcomes moved across the middle."""
    item = _make_item("record", "beliefs", record)
    return Lane(name=BELIEFS, due=lambda: [item] if is_due() else [], breath=0.5)


def clone_lane(
    *, is_due: Callable[[], bool], follow: Callable[[], None], closed: Callable[[], str]
) -> Lane:
    """Bring the agent's clone along after the trusted branch moved."""
    item = _make_item("follow", "clone", follow)
    return Lane(
        name=CLONE,
        lease=EACH_MACHINE,
        due=lambda: [item] if is_due() else [],
        closed=closed,
        grace=_GRACE,
        breath=0.2,
    )


def alerts_lane(check: Callable[[], None], *, seconds: Callable[[], float]) -> Lane:
    """Compare alert rules with what their signals say, first when the daemon has settled."""
    item = _make_item("check", "alerts", check, every=_LOOK_AT_ALERTS)
    first = seconds() + _LOOK_AT_ALERTS
    return Lane(
        name=ALERTS,
        due=lambda: [item] if seconds() >= first else [],
        grace=_GRACE,
        breath=0.5,
        longest_pause=300.0,
    )


def refusals_lane(record: Callable[[], None]) -> Lane:
    """Record how often refusals were repeated, also when nobody calls any more."""
    item = _make_item("record", "refusals", record, every=_LOOK_AT_REFUSALS)
    return Lane(
        name=REFUSALS, due=lambda: [item], lease=EACH_MACHINE, breath=0.5, longest_pause=60.0
    )


def next_index_lane(*, look: Callable[[], None], leave: Callable[[], None]) -> Lane:
    """Build the index of another version that was installed, while this one serves."""
    item = _make_item("look", "installed version", look, every=_LOOK_AT_INSTALLED)
    return Lane(
        name=NEXT_INDEX,
        due=lambda: [item],
        lease=EACH_MACHINE,
        leave=leave,
        grace=_GRACE,
        breath=0.5,
        longest_pause=3600.0,
    )


def stop_lane(*, find_due: Callable[[], str], carry_out: Callable[[], None]) -> Lane:
    """Carry out here what another machine stopped, and let go of what was started again."""

    def due() -> Sequence[WorkItem]:
        stop_id = find_due()
        return [_make_item("reach", stop_id, carry_out)] if stop_id else []

    return Lane(name=STOP, due=due, lease=EACH_MACHINE, breath=0.0, look_again=1.0)


def reaping_lane(reaper: Reaper) -> Lane:
    """Look after jobs that workers have: a lost one is moved once, or interrupted."""
    item = _make_item("settle", "jobs", reaper.settle, every=1.0)
    return Lane(
        name=REAPING,
        due=lambda: [item] if reaper.has_claimed() else [],
        begin_term=reaper.forget,
        breath=0.5,
        look_again=1.0,
        longest_pause=5.0,
    )


def _make_step_queries(
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


def _make_ender(work: ChangeWork) -> Callable[[DueStep], Callable[[], None] | None]:
    """Say how the tests of a change that was decided on meanwhile are cut short."""

    def ender(step: DueStep) -> Callable[[], None] | None:
        if step.step != TEST:
            return None
        return lambda: work.gathering.cut_short(step.subject)

    return ender


def _make_item(
    action: str, subject: str, run: Callable[[], None], *, every: float = 0.0
) -> WorkItem:
    key = f"{action} {subject}"
    return WorkItem(key=key, action=action, subject=subject, run=run, every=every)


def _ignore_answer(_answer: object) -> None:
    """Drop an answer: what happened is in the ledger."""
