"""A running Astra: the ledger of one data root and everything that needs it."""

import contextlib
import os
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from astra import __version__
from astra.adapters import boxes, stop_report
from astra.adapters.apprise_channels import AppriseChannels
from astra.adapters.approval_tokens import TokenFiles
from astra.adapters.cgroups import NOT_DELEGATED, Delegation
from astra.adapters.data_root import DataRoot
from astra.adapters.dbos_engine import DbosEngine, Job
from astra.adapters.file_ledger import FileLedger
from astra.adapters.reserve import Reserve, free_space
from astra.approvals.desk import Desk
from astra.bootstrap import PROJECTIONS, services
from astra.bootstrap.agent_boxes import AgentBoxes
from astra.bootstrap.change_parts import ChangeParts
from astra.bootstrap.changing import ChangeSteps
from astra.bootstrap.coding import BoxedCodingAgent, ProposedByTool, SourceForCoder
from astra.bootstrap.deploying import Deployer
from astra.bootstrap.events import URGENT
from astra.bootstrap.evidence import BoxesOnly
from astra.bootstrap.notifying import Notifier
from astra.bootstrap.plan_boxes import BoxesOfPlans, PlanBoxes
from astra.bootstrap.plan_running import PlanDoor, PlanNotices, PlanWorkers
from astra.bootstrap.planning import Planning, Running, make_running, own_folders, planning_of
from astra.bootstrap.releasing import make_deployer
from astra.bootstrap.sandbox import Sandbox
from astra.bootstrap.scheduling import RegistryCatalogue, ScheduleDoor, Scheduler
from astra.bootstrap.step_runner import StepRunner
from astra.bootstrap.views import Views, grant_places, make_views
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges, ApprovedChanges
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.flow import ChangeWork, Domains
from astra.goals.promotion import Promotions
from astra.kernel.clock import Clock, SystemClock, format_time
from astra.kernel.errors import AstraError, BadSetting, Conflict, DuplicateKey
from astra.ledger import chain
from astra.ledger.record import Record
from astra.notifications.outbox import Outbox
from astra.persona.awareness import Awareness
from astra.plans.coding import PlanCoder
from astra.policy import access, authority, budgets, contract, flags, stopping, telemetry
from astra.policy.access import Principal
from astra.policy.authority import Keys, Signed
from astra.policy.decision import Reason
from astra.policy.flags import Flag
from astra.policy.gate import Gate, Surroundings
from astra.policy.stopping import StopRecord
from astra.schedules.admission import Admission
from astra.schedules.executor import JOB, Executor
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.settings import environment
from astra.settings.environment import Settings
from astra.tools.counter import Counter
from astra.tools.registry import Registry
from astra.tools.services import Services

_LOOK_UP = 0.05


@dataclass(kw_only=True)
class Runtime:
    root: DataRoot
    settings: Settings
    ledger: FileLedger
    clock: Clock
    started_at: datetime
    desk: Desk
    desires: Desires
    branch: str
    views: Views
    url: str | None = None
    """Where the dashboard is served, once it is."""
    port: int | None = None
    groups: Delegation = NOT_DELEGATED

    @cached_property
    def counter(self) -> Counter:
        """Give the one place where every door calls tools."""
        own = own_folders(self.root, self.settings)
        around = Surroundings(
            flags=lambda: services.on(self.flags()),
            stopped=self.stopped,
            outside_grants=services.outside(
                services.own_grants(grant_places(self.root), own), self.planning.contracts.outside
            ),
            disk_low=self.reserve.is_low,
        )
        return Counter(
            registry=self.registry,
            gate=Gate(self.ledger, self.clock, self.desk, around),
            ledger=self.ledger,
            services=self._services(),
        )

    @property
    def reserve(self) -> Reserve:
        return Reserve(self.root.var)

    @cached_property
    def registry(self) -> Registry:
        return services.make_registry()

    @cached_property
    def timetable(self) -> Timetable:
        catalogue = RegistryCatalogue(self.registry)
        return Timetable(self.ledger, self.clock, catalogue, self.desk)

    @cached_property
    def shelf(self) -> TokenShelf:
        shelf = TokenShelf(self.ledger, self.desk, TokenFiles(self.root.var / "approvals"))
        self.desk.when_spent.append(shelf.spent)
        return shelf

    @cached_property
    def scheduler(self) -> Scheduler:
        executor = Executor(
            ledger=self.ledger,
            clock=self.clock,
            timetable=self.timetable,
            admission=Admission(
                ledger=self.ledger,
                clock=self.clock,
                catalogue=self.timetable.catalogue,
                door=ScheduleDoor(lambda: self.counter),
                approvals=self.desk,
                shelf=self.shelf,
            ),
            closed=self.why_no_firings,
            jobs=self.engine,
        )
        return Scheduler(executor, self.ledger, self.clock)

    @cached_property
    def engine(self) -> DbosEngine:
        """Give the engine for what takes long; it starts when it first gets something to do."""
        job = Job(
            run=lambda argument: self.scheduler.executor.job_run(argument),  # noqa: PLW0108 - made of this
            done=lambda argument, outcome: self.scheduler.executor.job_done(argument, outcome),  # noqa: PLW0108 - made of this
        )
        return DbosEngine(self.root.var / "jobs" / "jobs.sqlite3", {JOB: job})

    @cached_property
    def change_parts(self) -> ChangeParts:
        return ChangeParts(
            root=self.root,
            settings=self.settings,
            ledger=self.ledger,
            clock=self.clock,
            desk=self.desk,
            sandbox=self.sandbox,
            branch=self.branch,
            closed=self.why_no_changes,
        )

    @property
    def changes(self) -> Changes:
        return self.change_parts.changes

    @cached_property
    def change_steps(self) -> ChangeSteps:
        after = AfterChanges(
            changes=self.changes,
            deploy=lambda change, story: self.deployer.deploy(
                change, actor="operator", correlation=story
            ),
        )
        work = ChangeWork(self.changes.gathering, self.changes.merges, after)
        return ChangeSteps(self.ledger, work, self.why_no_changes)

    @cached_property
    def sandbox(self) -> Sandbox:
        return Sandbox(
            self.root, self.ledger, asked_off=self.settings.sandbox_off, groups=self.groups
        )

    @cached_property
    def deployer(self) -> Deployer:
        return make_deployer(
            root=self.root,
            ledger=self.ledger,
            clock=self.clock,
            sandbox=self.sandbox,
            approved=ApprovedChanges(changes=self.changes, tests_required=self.tests_required),
            branch=self.branch,
            stopped=self.stopped,
        )

    @cached_property
    def _holds(self) -> Callable[[str], bool]:
        """Check a line's signature, once for each line."""

        @lru_cache(128)
        def holds(line: str) -> bool:
            return authority.holds(self.ledger, chain.parse(line))

        return holds

    @cached_property
    def steps(self) -> StepRunner:
        domains = Domains(
            approvals=self.desk,
            tokens=self.shelf,
            promotions=self.promotions,
            idle=IdlePolicy(self.desires, self.settings.survey_hours),
            plans=self.planning.plans,
            exports=self.planning.exports,
            allowlist=self.planning.allowlist,
        )
        return StepRunner(self.ledger, self.clock, domains)

    @cached_property
    def planning(self) -> Planning:
        return planning_of(
            self.root,
            self.settings,
            ledger=self.ledger,
            clock=self.clock,
            desk=self.desk,
            registry=self.registry,
            flag=lambda name: self.flags()[name].on,
        )

    @cached_property
    def notifier(self) -> Notifier:
        return Notifier(Outbox(self.ledger, self.clock, self.channels), self.ledger)

    def channels(self) -> AppriseChannels:
        """Give the channels in force: names that were signed, addresses from the `.env` beside."""
        wanted = contract.in_force(self.ledger).notify
        known = environment.parse_dotenv(self.root.dotenv())
        return AppriseChannels(
            addresses={name: known[name] for name in wanted.channels if known.get(name)},
            include_content=wanted.include_content,
        )

    @property
    def promotions(self) -> Promotions:
        return Promotions(desires=self.desires, desk=self.desk)

    @property
    def page(self) -> str:
        """Name the dashboard's address: where it is, or where `astra up` will serve it."""
        public = self.settings.public_url
        planned = public.origin if public else f"http://localhost:{self.settings.port}"
        return self.url or planned

    def recognise(self, secret: str) -> Principal | None:
        """Tell who knows a secret of a session or a token."""
        return access.principal(
            self.ledger,
            secret,
            now=self.clock.now(),
            holds=lambda record: self._holds(record.line),
        )

    def still_recognised(self, who: Principal) -> bool:
        return access.still(self.ledger, who, now=self.clock.now())

    @cached_property
    def running(self) -> Running:
        return make_running(
            self.planning,
            door=PlanDoor(lambda: self.counter, self.registry),
            coder=self.coder,
            boxes=BoxesOfPlans(self.root.path),
            notifier=PlanNotices(self.channels),
            closed=self.why_no_steps,
            most_at_once=self.settings.most_plans_at_once,
        )

    @cached_property
    def coder(self) -> PlanCoder:
        contracts = self.planning.contracts
        return PlanCoder(
            register=self.planning.register,
            contracts=contracts,
            models=self.planning.drafting.models,
            source=SourceForCoder(source=lambda: self.views.source, contracts=contracts),
            agent=BoxedCodingAgent(
                command=lambda: contract.in_force(self.ledger).coder.command,
                boxes=BoxesOnly(self.sandbox),
                workspaces=lambda: self.change_parts.workspaces,
                commit=self.change_parts.repo.head,
                plan_boxes=self.boxes_of_plan,
            ),
            proposals=ProposedByTool(lambda: self.counter),
        )

    def boxes_of_plan(self, plan: str) -> PlanBoxes:
        return PlanBoxes(
            agent_id=plan,
            sandbox=BoxesOnly(self.sandbox),
            contracts=self.planning.contracts,
            may_write_code=self.may_write_code,
        )

    @cached_property
    def workers(self) -> PlanWorkers:
        return PlanWorkers(
            self.ledger,
            self.running.runner,
            self.planning.drafting,
            self.running.announcements,
        )

    def keys(self) -> Keys:
        return authority.keys(self.ledger)

    def flags(
        self, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
    ) -> dict[str, Flag]:
        """Work out the flags for a caller, whose own environment may narrow them further."""
        return flags.effective(
            self.ledger,
            off=self.settings.flags_off | off,
            asked_on=self.settings.flags_asked_on | asked_on,
            holds=lambda record: self._holds(record.line),
        )

    def turn_off(self, name: str, *, actor: str) -> Record:
        (record,) = self.ledger.append([flags.turn_off(name, actor=actor)])
        return record

    def reconfigure(self) -> None:
        """Look at the world as the configuration in force says now."""
        configuration = contract.in_force(self.ledger)
        old, self.views = (
            self.views,
            make_views(self.root, self.settings, configuration, self.branch),
        )
        self.__dict__.pop("counter", None)
        old.close()

    def why_no_firings(self) -> str:
        """Give the reason why no schedule may run now, or nothing."""
        if self.stopped():
            return str(Reason.STOPPED)
        return "" if self.flags()["ASTRA_SCHEDULER_ENABLED"].on else str(Reason.FLAG_OFF)

    def tests_required(self) -> bool:
        """Tell whether only tested changes are deployed; the environment can only insist on it."""
        return self.settings.tests_required or contract.in_force(self.ledger).deploy.require_tests

    def why_no_changes(self) -> str:
        """Give the reason why no code may be changed now, or nothing."""
        if self.stopped():
            return str(Reason.STOPPED)
        return "" if code_access(self.flags()) == "write" else str(Reason.FLAG_OFF)

    def why_no_steps(self) -> str:
        """Give the reason why no plan may take a step now, or nothing."""
        if self.stopped():
            return str(Reason.STOPPED)
        flags = self.flags()
        on = flags["AGENT_RUNNER_ENABLED"].on and flags["PERSONA_MODE_ENABLED"].on
        return "" if on else str(Reason.FLAG_OFF)

    def stopped(self) -> bool:
        """Tell whether work is stopped: the file says so at once, the record also without it."""
        return boxes.is_stopped(self.root.path) or bool(self._stop_record.in_force())

    def stop_in_force(self) -> tuple[str, dict[str, Any]]:
        """Give the id and the report of the stop that a start has to name."""
        if boxes.is_stopped(self.root.path):
            return stop_report.read(self.root.path)
        return self._stop_record.in_force(), {}

    @cached_property
    def _stop_record(self) -> StopRecord:
        return StopRecord(self.ledger)

    def record_stop(self, *, actor: str) -> bool:
        """Write the stop in force into the chain, once; tell whether it is there."""
        stop_id, report = self.stop_in_force()
        if not self.stopped() or stopping.was_ended(self.ledger, stop_id):
            return False
        with contextlib.suppress(DuplicateKey):
            self.ledger.append([stopping.stopped(stop_id, report, actor=actor)])
        return True

    def start_again(self, stop_id: str, signed: Signed) -> Record:
        """End a stop on the operator's word: first the record, then the file."""
        current, _ = self.stop_in_force()
        if not self.stopped() or current != stop_id:
            raise Conflict(
                "that is not the stop in force", code="other_stop", next_step="astra start"
            )
        event = stopping.started(self.ledger, stop_id, signed, now=self.clock.now())
        (record,) = self.ledger.append([event])
        stop_report.clear(self.root.path)
        return record

    def health(self) -> dict[str, Any]:
        effective = self.flags()
        return {
            "status": "stopped" if self.stopped() else "ok",
            "version": __version__,
            "code_access": code_access(effective),
            "stopped": self.stopped(),
            "flags": services.on(effective),
            "pending_approvals": len(self.desk.listed()),
            "sandbox": {name: self.sandbox.state()[name] for name in ("kind", "state")},
        }

    def close(self) -> None:
        """Leave: every thread finishes what it does, all at the same time."""
        working = (self.scheduler, self.workers, self.steps, self.deployer, self.notifier)
        with ThreadPoolExecutor() as pool:
            leaving = [pool.submit(each.stop) for each in (*working, self.change_steps)]
            while futures.wait(leaving, timeout=_LOOK_UP).not_done:
                self.ledger.wake()
        for each in leaving:
            each.result()
        self.engine.close()
        self.change_parts.close()
        self.views.close()
        self.ledger.close()

    def _services(self) -> Services:
        return Services(
            ledger=self.ledger,
            clock=self.clock,
            approvals=self.desk,
            schedules=self.timetable,
            changes=self.changes,
            desires=self.desires,
            promotions=self.promotions,
            awareness=Awareness(self.ledger),
            plans=self.planning.plans,
            plan_views=self.planning.views,
            drafting=self.planning.drafting,
            source=self.views.source,
            persona=self.views.files,
            persona_root=str(self.root.path / "persona_space"),
            health=self.health,
            set_flag_off=lambda name: self.turn_off(name, actor="operator tool").as_dict(),
            approval_link=lambda identifier: f"{self.page}/approvals/{identifier}",
            deploy=self.deployer.deploy_for_agent,
            boxes=AgentBoxes(
                sandbox=self.sandbox,
                folder=self.settings.sandbox_folder,
                code_repo=self.settings.code_repo,
                persona=self.root.path / "persona_space",
                may_write_code=self.may_write_code,
            ),
            plan_boxes=self.boxes_of_plan,
        )

    def may_write_code(self) -> bool:
        return code_access(self.flags()) == "write"


def start(
    settings: Settings, *, clock: Clock | None = None, groups: Delegation = NOT_DELEGATED
) -> Runtime:
    """Take ownership of a data root and open its ledger."""
    root = DataRoot(settings.data_root)
    created = root.require()
    _refuse_moved_folders(settings, root, created)
    clock = clock or SystemClock()
    reserve = Reserve(root.var)
    reserve.make_room()
    ledger = FileLedger(
        root.var,
        projections=PROJECTIONS,
        key=root.ledger_key(),
        clock=clock,
        reserve=reserve,
        urgent=URGENT,
    )
    reserve.fill()
    telemetry.close_interrupted(ledger)
    _settle_stop(root, ledger)
    branch = created.data["branch"]
    desires = Desires(ledger=ledger, clock=clock, half_life_days=settings.half_life_days)
    desires.settle()
    return Runtime(
        root=root,
        settings=settings,
        ledger=ledger,
        clock=clock,
        started_at=clock.now(),
        desk=Desk(ledger, clock),
        desires=desires,
        branch=branch,
        views=make_views(root, settings, contract.in_force(ledger), branch),
        groups=groups,
    )


def _settle_stop(root: DataRoot, ledger: FileLedger) -> None:
    """Write down a stop that came while no daemon ran; clear one that a signature had ended."""
    if boxes.is_stopped(root.path) or stop_report.present(root.path):
        stop_id, report = stop_report.read(root.path)
        if stopping.was_ended(ledger, stop_id):
            stop_report.clear(root.path)
            return
        with contextlib.suppress(DuplicateKey):
            ledger.append([stopping.stopped(stop_id, report, actor="daemon")])


def status(
    runtime: Runtime, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Describe everything that a person asks first."""
    effective = runtime.flags(off=off, asked_on=asked_on)
    keys = runtime.keys()
    head = runtime.ledger.head()
    return {
        "version": __version__,
        "data_root": str(runtime.root.path),
        "root_id": keys.root_id,
        "throwaway": keys.throwaway,
        "daemon": {
            "pid": os.getpid(),
            "socket": str(runtime.root.run / "astra.sock"),
            "url": runtime.url,
            "port": runtime.port,
            "started_at": format_time(runtime.started_at),
        },
        "flags": {name: flag.as_dict() for name, flag in effective.items()},
        "code_access": code_access(effective),
        "configuration": configuration_state(runtime),
        "stopped": runtime.stopped(),
        "notify": notify_state(runtime),
        "approvals": {"pending": len(runtime.desk.listed())},
        "budgets": budgets.week(runtime.ledger, now=runtime.clock.now()),
        "read_scope": str(runtime.views.read_scope),
        "sandbox": runtime.sandbox.state(),
        "disk": disk_state(runtime.reserve),
        "ledger": {
            "records": head.sequence,
            "head": head.hash,
            "time": head.time,
            "trouble": runtime.ledger.trouble or runtime.steps.trouble,
        },
        "changes": {
            **runtime.changes.book.counters(),
            "alerts": runtime.changes.book.alerts(),
            "trouble": runtime.change_steps.trouble,
        },
        "plans": runtime.workers.state(),
        "executor": {**runtime.scheduler.state(), "closed": runtime.why_no_firings()},
        "app": runtime.deployer.state(),
        "model": model_state(runtime),
    }


def model_state(runtime: Runtime) -> str | None:
    """Name the model that is configured, or say what is wrong with it."""
    models = runtime.planning.drafting.models
    if not models.configured():
        return None
    try:
        return models.current().name
    except AstraError as error:
        return error.detail


def code_access(effective: dict[str, Flag]) -> str:
    if not effective["PERSONA_MODE_ENABLED"].on:
        return "off"
    return "write" if effective["ASTRA_CODE_WRITE_ENABLED"].on else "read"


def disk_state(reserve: Reserve) -> dict[str, Any]:
    free, floor = free_space(reserve.var)
    return {
        "free": free,
        "floor": floor,
        "low": reserve.is_low(),
        "reserve": "used up" if reserve.is_out() else "held",
    }


def notify_state(runtime: Runtime) -> dict[str, list[str]]:
    """Name the channels people are told through, and those whose address is not there."""
    found = runtime.channels().names
    signed = contract.in_force(runtime.ledger).notify.channels
    return {"channels": [*found], "missing": [name for name in signed if name not in found]}


def configuration_state(runtime: Runtime) -> str:
    """Say whether the file `astra.toml` is the configuration that counts."""
    try:
        text = runtime.root.configuration.read_text()
    except (OSError, UnicodeDecodeError):
        text = ""
    return "signed" if text == contract.signed_text(runtime.ledger) else "changed since signed"


def _refuse_moved_folders(settings: Settings, root: DataRoot, created: Record) -> None:
    """Hold the environment to the folders chosen at init: it may not point the agent elsewhere."""
    for name, given, chosen in (
        ("AGENT_CODE_REPO_PATH", settings.code_repo, created.data["code_repo"]),
        ("AGENT_SANDBOX_PATH", settings.sandbox_folder, created.data["sandbox"]),
    ):
        if given != root.path / chosen:
            raise BadSetting(
                f"{name} is {given}; this data root was made with {root.path / chosen}",
                next_step=f"unset {name}",
                key=name,
            )
