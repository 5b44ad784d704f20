"""How the parts of a running Astra come together, from top to bottom.

Each part is made once, after those it needs, before any thread runs. Only the engine of jobs and
the executor of schedules need each other (`make_executor`).
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from astra.adapters.agent_views import CurrentFiles, CurrentSource, CurrentViews, Readers
from astra.adapters.approval_tokens import TokenFiles
from astra.adapters.boxes import target_tools
from astra.adapters.boxes.agent_boxes import AgentBoxes
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.coding_agent import BoxedCodingAgent, ProposedByTool, SourceForCoder
from astra.adapters.boxes.plan_boxes import PlanBoxes, RefusedHosts
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.chat_door import Copies, CounterForChat
from astra.adapters.configured_model import ConfiguredModel
from astra.adapters.dbos_engine import DbosEngine, Job
from astra.adapters.device_files import KeyFile
from astra.adapters.signed_channels import SignedChannels
from astra.adapters.supervisor.lending import LentListeners
from astra.adapters.web_push import DeviceChannels, WebPush
from astra.bootstrap.base import Base, open_base
from astra.bootstrap.changing import ChangeParts, make_change_parts, make_readiness
from astra.bootstrap.notifying import make_devices, make_key_file
from astra.bootstrap.planning import Planning, make_running, planning_of
from astra.bootstrap.releasing import make_deployer
from astra.bootstrap.runtime import Dashboard, Runtime
from astra.bootstrap.views import make_views
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges
from astra.deployments.service import Deployer
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.flow import Background, ChangeWork, ClaimedFirings, Domains, Lane, lanes
from astra.goals.promotion import Promotions
from astra.notifications.channels import EveryChannel, PlanNotices
from astra.notifications.devices import Devices
from astra.notifications.outbox import Outbox
from astra.persona.awareness import Awareness
from astra.persona.chat import Chat
from astra.persona.conversations import Conversations
from astra.plans.coding import PlanCoder
from astra.plans.door import PlanDoor
from astra.schedules import events as schedule_events
from astra.schedules.admission import Admission
from astra.schedules.door import RegistryCatalogue, ScheduleDoor
from astra.schedules.executor import JOB, Executor
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.tools.health import HealthReport
from astra.tools.services import Services
from astra.trusted.calls.counter import Counter
from astra.trusted.calls.slots import Slots
from astra.trusted.door.recognition import Recognition
from astra.trusted.files.own_places import grant_places
from astra.trusted.kernel.clock import Clock, SystemClock
from astra.trusted.policy.gate import Gate, Surroundings
from astra.trusted.policy.outside import outside, own_grants
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation
from astra.trusted.settings.environment import Settings


def build_runtime(
    settings: Settings, *, clock: Clock | None = None, groups: Delegation = NOT_DELEGATED
) -> Runtime:
    """Take ownership of a data root and build everything over it.

    Where something cannot be built, what was opened before it is closed again.
    """
    with ExitStack() as opened:
        base = open_base(settings, clock or SystemClock(), opened)
        root, ledger, desk = base.root, base.ledger, base.desk
        dashboard = make_dashboard(settings)

        # What the agent sees, and where its code runs
        readers = Readers.open(root.git, base.persona_space)
        opened.callback(readers.close)
        views = CurrentViews(lambda: make_views(readers, base))
        sandbox = Sandbox(root, ledger, asked_off=settings.sandbox_off, groups=groups)

        # The domains
        desires = Desires(ledger=ledger, clock=base.clock, half_life_days=settings.half_life_days)
        if not ledger.holds:
            desires.settle()
        promotions = Promotions(desires=desires, desk=desk)
        timetable = Timetable(ledger, base.clock, RegistryCatalogue(base.registry), desk)
        shelf = TokenShelf(ledger, desk, TokenFiles(root.var / "approvals"))
        desk.when_spent.append(shelf.spent)
        planning = planning_of(base)
        parts = make_change_parts(base, sandbox, opened)
        listeners = LentListeners(root.run)
        opened.callback(listeners.close)
        deployer = make_deployer(base, sandbox, parts.changes, listeners)
        devices, push_key = make_devices(root, ledger, base.clock), make_key_file(root)
        channels = SignedChannels(ledger=ledger, root=root)

        # The counter, where every door calls
        boxes_of_plan = make_boxes_of_plan(base, sandbox, planning)
        services = Services(
            ledger=ledger,
            clock=base.clock,
            approvals=desk,
            schedules=timetable,
            changes=parts.changes,
            desires=desires,
            promotions=promotions,
            awareness=Awareness(ledger),
            plans=planning.plans,
            plan_views=planning.views,
            drafting=planning.drafting,
            source=CurrentSource(views),
            persona=CurrentFiles(views),
            persona_root=str(base.persona_space),
            health=HealthReport(
                switches=base.switches, desk=desk, sandbox_state=sandbox.state
            ).read,
            set_flag_off=lambda name: base.switches.turn_off(name, actor="operator tool").as_dict(),
            approval_link=lambda identifier: f"{dashboard.page}/approvals/{identifier}",
            boxes=make_agent_boxes(base, sandbox),
            plan_boxes=boxes_of_plan,
            deployments=deployer,
        )
        counter = make_counter(base, planning, services)
        opened.callback(counter.record_refusals, leaving=True)

        # What works by itself, through the same counter
        coder = make_coder(
            base,
            sandbox,
            planning,
            parts,
            views=views,
            counter=counter,
            boxes_of_plan=boxes_of_plan,
        )
        running = make_running(
            planning,
            door=PlanDoor(lambda: counter, base.registry),
            coder=coder,
            refusals=RefusedHosts(ledger),
            boxes=sandbox,
            notifier=PlanNotices(channels.current),
            closed=base.switches.why_no_steps,
            most_at_once=settings.most_plans_at_once,
        )
        executor, engine = make_executor(base, timetable, shelf, counter)
        opened.callback(engine.close)
        domains = Domains(
            approvals=desk,
            tokens=shelf,
            promotions=promotions,
            idle=IdlePolicy(desires, settings.survey_hours),
            plans=planning.plans,
            exports=planning.exports,
            allowlist=planning.allowlist,
        )
        outbox = Outbox(ledger, base.clock, make_every_channel(base, channels, devices, push_key))
        woken = threading.Event()
        firings = ClaimedFirings(executor, woken)
        every_lane = (
            lanes.quick_lane(ledger, base.clock, domains, base.why_held),
            make_changes_lane(base, parts.changes, deployer),
            *firings.lanes(),
            *lanes.plan_lanes(running.runner, planning.drafting, running.announcements),
            lanes.deployments_lane(deployer),
            lanes.app_egress_lane(deployer),
            lanes.notifications_lane(outbox),
            make_witness_lane(base),
            lanes.refusals_lane(counter.record_refusals),
        )
        background = Background(ledger, base.clock, every_lane, woken=woken)

        return Runtime(
            started_at=base.clock.now(),
            root=root,
            settings=settings,
            clock=base.clock,
            ledger=ledger,
            reserve=base.reserve,
            stops=base.stops,
            switches=base.switches,
            recognition=make_recognition(base),
            desk=desk,
            restores=base.restores,
            witness=base.witness,
            registry=base.registry,
            counter=counter,
            views=views,
            sandbox=sandbox,
            desires=desires,
            timetable=timetable,
            shelf=shelf,
            change_parts=parts,
            planning=planning,
            running=running,
            chat=make_chat(base, counter),
            channels=channels,
            devices=devices,
            push_key=push_key,
            dashboard=dashboard,
            listeners=listeners,
            engine=engine,
            executor=executor,
            firings=firings,
            deployer=deployer,
            readiness=make_readiness(base, sandbox, parts, background),
            background=background,
            opened=opened.pop_all(),
        )


def make_recognition(base: Base) -> Recognition:
    return Recognition(
        ledger=base.ledger,
        clock=base.clock,
        holds=base.switches.holds,
        held=lambda: bool(base.ledger.holds),
    )


def make_witness_lane(base: Base) -> Lane:
    witness = base.witness
    return lanes.witness_lane(due=witness.is_due, advance=witness.advance)


def make_dashboard(settings: Settings) -> Dashboard:
    public = settings.public_url
    return Dashboard(planned=public.origin if public else f"http://localhost:{settings.port}")


def make_agent_boxes(base: Base, sandbox: Sandbox) -> AgentBoxes:
    return AgentBoxes(
        sandbox=sandbox,
        folder=base.settings.sandbox_folder,
        code_repo=base.settings.code_repo,
        persona=base.persona_space,
        may_write_code=base.switches.may_write_code,
        tools=lambda: target_tools.programs(base.configuration().target),
    )


def make_boxes_of_plan(
    base: Base, sandbox: Sandbox, planning: Planning
) -> Callable[[str], PlanBoxes]:
    """Give what makes the box of a plan, which is compiled anew for every run."""
    return lambda plan: PlanBoxes(
        agent_id=plan,
        sandbox=BoxesOnly(sandbox),
        contracts=planning.contracts,
        may_write_code=base.switches.may_write_code,
        tools=lambda: target_tools.programs(base.configuration().target),
    )


def make_counter(base: Base, planning: Planning, services: Services) -> Counter:
    grants = own_grants(grant_places(base.root), base.own_folders)
    around = Surroundings(
        flags=base.switches.on,
        stopped=base.stops.stopped,
        outside_grants=outside(grants, planning.contracts.outside),
        disk_low=base.reserve.is_low,
        held=base.why_held,
    )
    return Counter(
        registry=base.registry,
        gate=Gate(base.ledger, base.clock, base.desk, around),
        ledger=base.ledger,
        services=services,
        slots=Slots(most_boxes=lambda: base.configuration().budgets.boxes_at_once),
    )


def make_coder(
    base: Base,
    sandbox: Sandbox,
    planning: Planning,
    parts: ChangeParts,
    *,
    views: CurrentViews,
    counter: Counter,
    boxes_of_plan: Callable[[str], PlanBoxes],
) -> PlanCoder:
    return PlanCoder(
        register=planning.register,
        contracts=planning.contracts,
        models=planning.drafting.models,
        source=SourceForCoder(source=lambda: views.current.source, contracts=planning.contracts),
        agent=BoxedCodingAgent(
            command=lambda: base.configuration().coder.command,
            boxes=BoxesOnly(sandbox),
            workspaces=parts.workspaces,
            commit=parts.repo.head,
            plan_boxes=boxes_of_plan,
        ),
        proposals=ProposedByTool(counter),
    )


def make_executor(
    base: Base, timetable: Timetable, shelf: TokenShelf, counter: Counter
) -> tuple[Executor, DbosEngine]:
    """Make the executor and its engine of jobs, which learns last what a job is."""
    jobs: dict[str, Job] = {}
    engine = DbosEngine(
        base.root.var / "jobs" / "jobs.sqlite3",
        jobs,
        on_set_aside=lambda file, why: base.record(schedule_events.jobs_set_aside(file, why)),
    )
    executor = Executor(
        ledger=base.ledger,
        clock=base.clock,
        timetable=timetable,
        admission=Admission(
            ledger=base.ledger,
            clock=base.clock,
            catalogue=timetable.catalogue,
            door=ScheduleDoor(lambda: counter),
            approvals=base.desk,
            shelf=shelf,
        ),
        closed=base.switches.why_no_firings,
        jobs=engine,
    )
    jobs[JOB] = Job(run=executor.job_run, done=executor.job_done)
    return executor, engine


def make_changes_lane(base: Base, changes: Changes, deployer: Deployer) -> Lane:
    after = AfterChanges(
        changes=changes,
        deploy=lambda change, story: deployer.deploy(change, actor="operator", correlation=story),
    )
    work = ChangeWork(changes.gathering, changes.merges, changes.remarks, after)
    return lanes.changes_lane(base.ledger, base.clock, work, base.switches.why_no_changes)


def make_every_channel(
    base: Base, channels: SignedChannels, devices: Devices, push_key: KeyFile
) -> Callable[[], EveryChannel]:
    public = base.settings.public_url
    push = WebPush(
        key=push_key.key,
        contact=public.origin if public else "mailto:operator@astra.invalid",
        clock=base.clock,
    )

    def every_channel() -> EveryChannel:
        signed = channels.current()
        content = signed.include_content
        return EveryChannel(
            signed=signed,
            devices=DeviceChannels(devices=devices, push=push, include_content=content),
        )

    return every_channel


def make_chat(base: Base, counter: Counter) -> Chat:
    def flags(off: frozenset[str]) -> Mapping[str, bool]:
        return base.switches.on(off=off)

    def door(correlation: str, off: frozenset[str]) -> CounterForChat:
        return CounterForChat(counter=counter, flags=flags(off), correlation=correlation, off=off)

    return Chat(
        ledger=base.ledger,
        talkers=ConfiguredModel(ledger=base.ledger, settings=base.settings, root=base.root),
        door=door,
        flags=flags,
        stopped=base.stops.stopped,
        kept=Copies(root=base.root, conversations=Conversations(base.ledger)).write,
    )
