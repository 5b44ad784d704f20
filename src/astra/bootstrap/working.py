"""A worker at work: it joins a shared chain, does its duties under a lease, and leaves in order.

A worker stands on the same parts as a daemon (`build_runtime`) and starts none of its lanes. It has
two loops of its own: one keeps it a member (it says what it can do, and carries a stop out), the
other runs its duties. Leaving ends the second first, so that a stop reaches a worker that drains.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from astra import __version__
from astra.adapters.boxes import target_tools
from astra.adapters.offered_mutants import MutantPerformer
from astra.adapters.offered_research import ResearchPerformer
from astra.adapters.offered_tests import TestPerformer
from astra.bootstrap.build import build_runtime
from astra.bootstrap.instances import make_instance_lanes
from astra.bootstrap.runtime import Runtime
from astra.flow import Background, Lane, WorkItem, lanes
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.ledger.fencing import find_fence, work_under
from astra.trusted.ledger.record import Event
from astra.trusted.policy import contract
from astra.trusted.sandbox import boxes
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation
from astra.trusted.settings.environment import Settings
from astra.trusted.stop import stop
from astra.workers import events
from astra.workers.duties import Duty
from astra.workers.model import MUTANTS, RESEARCH, TESTS, Job, Skills, lease_of
from astra.workers.taking import JobTaking, Performer

MEMBERSHIP, JOBS = "worker", "worker-jobs"
DRAIN_SECONDS = 600.0
_CHECK_SECONDS = 30.0
_log = logging.getLogger("astra.worker")


def open_worker(
    settings: Settings,
    skills: Skills,
    *,
    drain_seconds: float = DRAIN_SECONDS,
    groups: Delegation = NOT_DELEGATED,
) -> "WorkerAtWork":
    """Take ownership of a data folder as a worker; a chain in files has no workers."""
    if not settings.database_url:
        raise Refused(
            "a worker needs a chain that machines share, and this data root has its own in files",
            code="no_shared_chain",
            next_step="move the chain with `astra ledger move --to URL`, then set"
            " ASTRA_DATABASE_URL here",
        )
    runtime = build_runtime(settings, groups=groups)
    # What a killed worker left running here is another's job by now.
    stop.end_marked(runtime.root.path, frozenset({boxes.RUN}))
    worker = WorkerAtWork(runtime=runtime, skills=skills, drain_seconds=drain_seconds)
    if skills.instance:
        worker.instance_lanes += make_instance_lanes(runtime, skills.instance)
    return worker


@dataclass(kw_only=True)
class WorkerAtWork:
    runtime: Runtime
    skills: Skills
    drain_seconds: float = DRAIN_SECONDS
    duties: list[Duty] = field(default_factory=list[Duty])
    """What it does; to be complete before it starts."""
    instance_lanes: list[Lane] = field(default_factory=list[Lane])
    """What it does for its instance of the app, under that instance's own lease."""
    _joined_epoch: int = field(default=0, init=False)
    _problems: tuple[str, ...] = field(default=(), init=False)
    _given_up: threading.Event = field(default_factory=threading.Event, init=False)
    _loops: list[Background] = field(default_factory=list[Background], init=False)

    @property
    def id(self) -> str:
        return self.runtime.machines.own_id

    @property
    def lease(self) -> str:
        return lease_of(self.id)

    def start(self) -> None:
        """Want the worker's own lease and that of its instance, no other, then begin."""
        wanted_leases = self.runtime.wanted_leases
        wanted_leases.clear()
        for name in (self.lease, *(lane.lease for lane in self.instance_lanes if lane.lease)):
            wanted_leases[name] = lambda: True
        stop_reach = self.runtime.stops.reach
        stop_lane = lanes.stop_lane(find_due=stop_reach.find_due, carry_out=stop_reach.carry_out)
        self._loops = [
            self._make_loop([stop_lane, self._make_membership_lane()]),
            self._make_loop(
                [
                    self._make_job_lane(),
                    *map(self._make_duty_lane, self.duties),
                    *self.instance_lanes,
                ]
            ),
        ]
        self.runtime.machines.start()
        for loop in self._loops:
            loop.start()

    def leave(self) -> None:
        """Take nothing new, finish what runs up to the deadline, end every box, let go."""
        membership, at_work = self._loops
        self._record(events.draining(self.id))
        for duty in self.duties:
            duty.drain()
        at_work.stop()
        self._given_up.set()
        stop.end_marked(self.runtime.root.path, frozenset({boxes.RUN}))
        membership.stop()
        self._record(events.left(self.id))
        self.runtime.close()

    def find_problems(self) -> tuple[str, ...]:
        """Say why no job may run here: no sandbox, no tools of the target, no way for commits."""
        return (*self.runtime.sandbox.problems(), *self._find_missing())

    def _find_missing(self) -> list[str]:
        runtime, problems = self.runtime, list[str]()
        target = contract.read_configuration(runtime.ledger).target
        try:
            target_tools.read_toolchain(target)
            problems += target_tools.list_missing(target.test_command)
        except AstraError as error:
            problems.append(error.detail)
        if not runtime.change_parts.objects.is_configured:
            problems.append("the signed configuration has no [ledger] objects: no commit gets here")
        return problems

    def _make_loop(self, loop_lanes: Sequence[Lane]) -> Background:
        runtime = self.runtime
        return Background(runtime.ledger, runtime.clock, loop_lanes, machines=runtime.machines)

    def _make_membership_lane(self) -> Lane:
        joining = _make_item("join", self._join)
        checking = _make_item("check", self._check_again, every=_CHECK_SECONDS)

        def due() -> list[WorkItem]:
            return [checking] if self._joined_epoch == _current_epoch() else [joining]

        return Lane(name=MEMBERSHIP, lease=self.lease, due=due, look_again=1.0, longest_pause=5.0)

    def _make_job_lane(self) -> Lane:
        runtime = self.runtime
        taking = JobTaking(
            ledger=runtime.ledger,
            worker=self.id,
            skills=self.skills,
            performers=self._make_performers(),
            is_fit=lambda: bool(self._joined_epoch) and not self._problems,
            has_given_up=self._given_up.is_set,
        )

        def list_due() -> list[Job]:
            return [job for job in taking.list_due() if not self._explain_closed([job.offer.kind])]

        def item(job: Job) -> WorkItem:
            return WorkItem(
                key=job.id,
                action=job.offer.kind,
                subject=job.offer.label,
                entity=job.id,
                run=lambda: taking.run(job.id),
                end=lambda: taking.end(job),
            )

        return Lane(
            name=JOBS,
            lease=self.lease,
            due=lambda: [item(job) for job in list_due()],
            workers=self.skills.jobs,
            closed=lambda: self._explain_closed(self.skills.kinds),
            grace=self.drain_seconds,
            breath=0.0,
            look_again=1.0,
            longest_pause=5.0,
        )

    def _explain_closed(self, kinds: Sequence[str]) -> str:
        """Say why no job of these kinds may run now; each kind has the switch of its own work."""
        switches = self.runtime.switches
        reasons = [
            switches.why_no_goals() if kind == RESEARCH else switches.why_no_changes()
            for kind in kinds
        ]
        return reasons[0] if all(reasons) else ""

    def _make_performers(self) -> dict[str, Performer]:
        parts = self.runtime.change_parts
        mutants = MutantPerformer(
            own=parts.own_mutation,
            repo=parts.repo,
            book=parts.changes.book,
            objects=parts.objects,
            end_boxes=parts.own_tests.end,
        )
        return {
            TESTS: TestPerformer(own=parts.own_tests, objects=parts.objects),
            MUTANTS: mutants,
            RESEARCH: ResearchPerformer(
                researcher=self.runtime.research.researcher, objects=parts.objects
            ),
        }

    def _make_duty_lane(self, duty: Duty) -> Lane:
        item = _make_item(duty.name, duty.run_once, every=duty.every)

        def due() -> list[WorkItem]:
            return [item] if self._joined_epoch else []

        return Lane(
            name=duty.name,
            lease=self.lease,
            due=due,
            breath=0.0,
            look_again=max(duty.every, 0.1),
            longest_pause=5.0,
            grace=self.drain_seconds,
        )

    def _join(self) -> None:
        """Say in the chain what this worker can do, anew for each epoch of its lease."""
        epoch = _current_epoch()
        self._problems = self.find_problems()
        machines = {machine.id: machine.name for machine in self.runtime.machines.list_machines()}
        join_event = events.joined(
            self.id,
            machines.get(self.id, self.id),
            self.skills,
            version=__version__,
            epoch=epoch,
            problems=self._problems,
        )
        self.runtime.ledger.append([join_event])
        self._joined_epoch = epoch
        _log.info("joined as %s, epoch %s", self.id, epoch)

    def _check_again(self) -> None:
        problems = self.find_problems()
        if problems != self._problems:
            self.runtime.ledger.append([events.checked(self.id, problems)])
            self._problems = problems

    def _record(self, event: Event) -> None:
        """Record under the lease what others can also see from its end."""
        term = self.runtime.machines.find_term(self.lease)
        if term is None or not self._joined_epoch:
            return
        with contextlib.suppress(AstraError), work_under(term.fence):
            self.runtime.ledger.append([event])


def _current_epoch() -> int:
    """Give the epoch of the lease that this thread works under."""
    fence = find_fence()
    return fence.epoch if fence else 0


def _make_item(action: str, run: Callable[[], None], *, every: float = 0.0) -> WorkItem:
    return WorkItem(key=action, action=action, subject=MEMBERSHIP, run=run, every=every)
