"""A running Astra: the ledger of one data root and everything that needs it."""

from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from astra import __version__
from astra.adapters.apprise_channels import AppriseChannels
from astra.adapters.approval_tokens import TokenFiles
from astra.adapters.dbos_engine import DbosEngine, Job
from astra.adapters.device_files import KeyFile
from astra.adapters.web_push import DeviceChannels, WebPush
from astra.bootstrap import PROJECTIONS, services, target_tools
from astra.bootstrap.agent_boxes import AgentBoxes
from astra.bootstrap.change_parts import ChangeParts
from astra.bootstrap.chatting import make_chat
from astra.bootstrap.coding import BoxedCodingAgent, ProposedByTool, SourceForCoder
from astra.bootstrap.deploying import Deployer
from astra.bootstrap.events import URGENT
from astra.bootstrap.evidence import BoxesOnly
from astra.bootstrap.notifying import EveryChannel, Notifier, make_devices, make_key_file
from astra.bootstrap.plan_boxes import BoxesOfPlans, PlanBoxes, RefusedHosts
from astra.bootstrap.plan_running import PlanDoor, PlanNotices, PlanWorkers
from astra.bootstrap.planning import (
    ConfiguredModel,
    Planning,
    Running,
    make_running,
    own_folders,
    planning_of,
)
from astra.bootstrap.releasing import make_deployer
from astra.bootstrap.sandbox import Sandbox
from astra.bootstrap.scheduling import RegistryCatalogue, ScheduleDoor, Scheduler
from astra.bootstrap.step_runner import StepRunner, change_steps, quick_steps
from astra.bootstrap.stops import Stops
from astra.bootstrap.switches import Switches
from astra.bootstrap.views import Views, grant_places, make_views
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges, ApprovedChanges
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.flow import ChangeWork, Domains
from astra.goals.promotion import Promotions
from astra.notifications.devices import Devices
from astra.notifications.outbox import Outbox
from astra.persona.awareness import Awareness
from astra.persona.chat import Chat
from astra.plans.coding import PlanCoder
from astra.schedules.admission import Admission
from astra.schedules.executor import JOB, Executor
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.tools.services import Services
from astra.trusted.approvals.desk import Desk
from astra.trusted.calls.counter import Counter
from astra.trusted.calls.registry import Registry
from astra.trusted.file_ledger import FileLedger
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.clock import Clock, SystemClock
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.ledger.record import Record
from astra.trusted.policy import access, authority, contract, flags, telemetry
from astra.trusted.policy.access import Principal
from astra.trusted.policy.authority import Keys
from astra.trusted.policy.gate import Gate, Surroundings
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation
from astra.trusted.settings import environment
from astra.trusted.settings.environment import Settings

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
    _retired: list[Views] = field(default_factory=list[Views])
    """Views that calls under way may still look through."""

    @cached_property
    def counter(self) -> Counter:
        """Give the one place where every door calls tools."""
        own = own_folders(self.root, self.settings)
        around = Surroundings(
            flags=lambda: services.on(self.switches.flags()),
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
            closed=self.switches.why_no_firings,
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
            closed=self.switches.why_no_changes,
            person_for_tests=self.switches.person_for_tests,
            tests_required=self.switches.tests_required,
        )

    @property
    def changes(self) -> Changes:
        return self.change_parts.changes

    @cached_property
    def change_steps(self) -> StepRunner:
        after = AfterChanges(
            changes=self.changes,
            deploy=lambda change, story: self.deployer.deploy(
                change, actor="operator", correlation=story
            ),
        )
        work = ChangeWork(self.changes.gathering, self.changes.merges, self.changes.remarks, after)
        return change_steps(self.ledger, self.clock, work, self.switches.why_no_changes)

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
            approved=ApprovedChanges(
                changes=self.changes, tests_required=self.switches.tests_required
            ),
            branch=self.branch,
            stopped=self.stopped,
            changes=self.changes,
            person_for_tests=self.switches.person_for_tests,
        )

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
        return quick_steps(self.ledger, self.clock, domains)

    @cached_property
    def planning(self) -> Planning:
        return planning_of(
            self.root,
            self.settings,
            ledger=self.ledger,
            clock=self.clock,
            desk=self.desk,
            registry=self.registry,
            flag=lambda name: self.switches.flags()[name].on,
        )

    @cached_property
    def notifier(self) -> Notifier:
        return Notifier(Outbox(self.ledger, self.clock, self.every_channel), self.ledger)

    @cached_property
    def devices(self) -> Devices:
        return make_devices(self.root, self.ledger, self.clock)

    @cached_property
    def push_key(self) -> KeyFile:
        return make_key_file(self.root)

    def every_channel(self) -> EveryChannel:
        signed, public = self.channels(), self.settings.public_url
        push = WebPush(
            key=self.push_key.key,
            contact=public.origin if public else "mailto:operator@astra.invalid",
            clock=self.clock,
        )
        devices = DeviceChannels(
            devices=self.devices, push=push, include_content=signed.include_content
        )
        return EveryChannel(signed=signed, devices=devices)

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
            holds=lambda record: self.switches.holds(record.line),
        )

    def still_recognised(self, who: Principal) -> bool:
        return access.still(self.ledger, who, now=self.clock.now())

    @cached_property
    def chat(self) -> Chat:
        return make_chat(
            root=self.root,
            ledger=self.ledger,
            talkers=ConfiguredModel(ledger=self.ledger, settings=self.settings, root=self.root),
            counter=lambda: self.counter,
            switches=self.switches,
        )

    @cached_property
    def running(self) -> Running:
        return make_running(
            self.planning,
            door=PlanDoor(lambda: self.counter, self.registry),
            coder=self.coder,
            refusals=RefusedHosts(self.ledger),
            boxes=BoxesOfPlans(self.root.path),
            notifier=PlanNotices(self.channels),
            closed=self.switches.why_no_steps,
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
            may_write_code=self.switches.may_write_code,
            tools=self.target_tools,
        )

    def target_tools(self) -> tuple[Path, ...]:
        """Name the target's own interpreters, as the configuration in force has them."""
        return target_tools.programs(contract.in_force(self.ledger).target)

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

    def reconfigure(self) -> None:
        """Look at the world as the configuration in force says now."""
        self._retired.append(self.views)
        configuration = contract.in_force(self.ledger)
        self.views = make_views(self.root, self.settings, configuration, self.branch)
        self.__dict__.pop("counter", None)

    @cached_property
    def switches(self) -> Switches:
        return Switches(ledger=self.ledger, settings=self.settings, stopped=self.stopped)

    @cached_property
    def stops(self) -> Stops:
        return Stops(self.root.path, self.ledger, self.clock)

    def stopped(self) -> bool:
        return self.stops.stopped()

    def health(self) -> dict[str, Any]:
        effective = self.switches.flags()
        return {
            "status": "stopped" if self.stopped() else "ok",
            "version": __version__,
            "code_access": flags.code_access(effective),
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
        for views in (self.views, *self._retired):
            views.close()
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
            set_flag_off=lambda name: self.switches.turn_off(name, actor="operator tool").as_dict(),
            approval_link=lambda identifier: f"{self.page}/approvals/{identifier}",
            deployments=self.deployer,
            boxes=AgentBoxes(
                sandbox=self.sandbox,
                folder=self.settings.sandbox_folder,
                code_repo=self.settings.code_repo,
                persona=self.root.path / "persona_space",
                may_write_code=self.switches.may_write_code,
                tools=self.target_tools,
            ),
            plan_boxes=self.boxes_of_plan,
        )


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
    Stops(root.path, ledger, clock).settle()
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
