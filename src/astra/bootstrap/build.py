"""How the parts of a running Astra come together, from top to bottom.

Each part is made once, after those it needs, before any thread runs. Only the engine of jobs and
the executor of schedules need each other (`make_executor`).
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import ParamSpec, TypeVar

from astra.adapters import conversation_texts
from astra.adapters.agent_views import CurrentFiles, CurrentSource, CurrentViews, Readers
from astra.adapters.approval_tokens import TokenFiles
from astra.adapters.boxes import target_tools
from astra.adapters.boxes.agent_boxes import AgentBoxes
from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.coding_agent import BoxedCodingAgent, ProposedByTool, SourceForCoder
from astra.adapters.boxes.plan_boxes import PlanBoxes, RefusedHosts
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.chat_door import Copies, CounterForChat
from astra.adapters.conversation_texts import ConversationTexts
from astra.adapters.dbos_engine import DbosEngine, Job
from astra.adapters.device_files import KeyFile
from astra.adapters.signed_channels import SignedChannels
from astra.adapters.supervisor.lending import LentListeners
from astra.adapters.web_push import DeviceChannels, WebPush
from astra.bootstrap.base import Base, open_base
from astra.bootstrap.beliefs import make_beliefs, make_beliefs_lane
from astra.bootstrap.changing import (
    ChangeParts,
    make_change_parts,
    make_config_check,
    make_environment_store,
    make_readiness,
)
from astra.bootstrap.goals import (
    has_target_path,
    list_target_files,
    make_decomposer,
    make_goal_service,
    make_model_proposals,
    make_task_runner,
)
from astra.bootstrap.notifying import make_devices, make_key_file
from astra.bootstrap.operating import (
    make_alerting,
    make_probes,
    make_receipts,
    make_traces_lane,
    read_ledger_signals,
)
from astra.bootstrap.planning import Planning, find_model, make_running, planning_of
from astra.bootstrap.releasing import make_deployer
from astra.bootstrap.researching import make_research
from astra.bootstrap.runtime import Dashboard, Runtime
from astra.bootstrap.servers import make_server_grants, make_servers, make_servers_lane
from astra.bootstrap.syncing import make_clone_lane, make_sync, make_sync_lane
from astra.bootstrap.views import make_views
from astra.changes.for_plans import TestedChanges
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges
from astra.deployments.repairs import Repairs
from astra.deployments.service import Deployer
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.flow import Background, ChangeWork, ClaimedFirings, Domains, Lane, lanes
from astra.flow.lane import APP_LEASE, WORK_LEASE
from astra.goals.promotion import Promotions
from astra.notifications.channels import EveryChannel, PlanNotices
from astra.notifications.devices import Devices
from astra.notifications.outbox import Outbox
from astra.notifications.trying import ChannelTest
from astra.operations.smoke import Probe, Smoke
from astra.persona.awareness import Awareness
from astra.persona.chat import Chat
from astra.persona.conversations import Conversations
from astra.persona.digest import Digest
from astra.plans.code.memory import LedgerMemory
from astra.plans.coding import PlanCoder
from astra.plans.door import PlanDoor
from astra.plans.proposed import ProposedChanges
from astra.schedules import events as schedule_events
from astra.schedules.admission import Admission
from astra.schedules.door import RegistryCatalogue, ScheduleDoor
from astra.schedules.executor import JOB, Executor
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.spend.views import SpendViews
from astra.tools.health import HealthReport
from astra.tools.services import Services
from astra.trusted.calls.counter import Counter
from astra.trusted.calls.slots import Slots
from astra.trusted.door.recognition import Recognition
from astra.trusted.files.own_places import grant_places
from astra.trusted.kernel.clock import Clock, SystemClock
from astra.trusted.ledger.fencing import Fence, work_under
from astra.trusted.policy import contract
from astra.trusted.policy.gate import Gate, Surroundings
from astra.trusted.policy.outside import build_grant_check, own_grants
from astra.trusted.sandbox.cgroups import NOT_DELEGATED, Delegation
from astra.trusted.sandbox.toolchain import NO_TOOLCHAIN, Toolchain
from astra.trusted.settings.environment import Settings
from astra.trusted.stop.machines import Machines
from astra.workers.book import WorkerBook
from astra.workers.reaping import Reaper

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def build_runtime(
    settings: Settings, *, clock: Clock | None = None, groups: Delegation = NOT_DELEGATED
) -> Runtime:
    """Take ownership of a data root and build everything over it.

    Where something cannot be built, what was opened before it is closed again.
    """
    with ExitStack() as exit_stack:
        base = open_base(settings, clock or SystemClock(), exit_stack)
        root, ledger, desk = base.root, base.ledger, base.desk
        dashboard = make_dashboard(settings)

        # What the agent sees, and where its code runs
        readers = Readers.open(root.git, base.persona_space)
        exit_stack.callback(readers.close)
        views = CurrentViews(lambda: make_views(readers, base))
        sandbox = Sandbox(root, ledger, asked_off=settings.sandbox_off, groups=groups)

        # The domains
        desires = make_desires(base)
        promotions = Promotions(desires=desires, desk=desk)
        beliefs = make_beliefs(base)
        digest = Digest(Awareness(ledger), beliefs.book)
        planning = planning_of(
            base,
            digest.write,
            lambda: list_target_files(views),
            lambda path: has_target_path(views, path),
        )
        decomposer = make_decomposer(base, planning)
        goals = make_goal_service(
            base, promotions, beliefs.book, views, may_ask_model=decomposer.is_there
        )
        timetable = Timetable(ledger, base.clock, RegistryCatalogue(base.registry), desk)
        shelf = TokenShelf(ledger, desk, TokenFiles(root.var / "approvals"))
        desk.when_spent.append(shelf.spent)
        parts = make_change_parts(base, sandbox, exit_stack)
        upstream_sync = make_sync(base, parts, exit_stack)
        listeners = LentListeners(root.run)
        exit_stack.callback(listeners.close)
        deployer = make_deployer(base, sandbox, parts, listeners)
        research = make_research(
            base, planning, views, sandbox=sandbox, objects=parts.objects, opened=exit_stack
        )
        parts = parts.check_citations(research.researcher.citations.describe)
        devices, push_key = make_devices(root, ledger, base.clock), make_key_file(root)
        channels = SignedChannels(ledger=ledger, root=root)
        servers = make_servers(base, sandbox, exit_stack)

        # The counter, where every door calls
        probes: dict[str, Probe] = {}
        smoke = Smoke(ledger, probes)
        environment = make_trunk_environment(base, parts)
        boxes_of_plan = make_boxes_of_plan(base, sandbox, planning, environment)
        services = Services(
            ledger=ledger,
            clock=base.clock,
            approvals=desk,
            schedules=timetable,
            changes=parts.changes,
            desires=desires,
            promotions=promotions,
            goals=goals,
            awareness=Awareness(ledger),
            beliefs=beliefs,
            plans=planning.plans,
            plan_views=planning.views,
            drafting=planning.drafting,
            research=research,
            source=CurrentSource(views),
            persona=CurrentFiles(views),
            persona_root=str(base.persona_space),
            health=HealthReport(
                switches=base.switches, desk=desk, sandbox_state=sandbox.state
            ).read,
            set_flag_off=lambda name: base.switches.turn_off(name, actor="operator tool").as_dict(),
            stop_all=lambda keep_app: base.stops.stop_all(keep_app=keep_app, actor="operator tool"),
            approval_link=lambda identifier: f"{dashboard.page}/approvals/{identifier}",
            boxes=make_agent_boxes(base, sandbox, environment),
            plan_boxes=boxes_of_plan,
            deployments=deployer,
            servers=servers,
            smoke=smoke,
        )
        counter = make_counter(base, planning, services)
        exit_stack.callback(counter.record_refusals, leaving=True)

        # What works by itself, through the same counter
        coder = make_coder(
            base,
            sandbox,
            planning,
            parts,
            views=views,
            counter=counter,
            boxes_of_plan=boxes_of_plan,
            digest=digest.write_for_coder,
        )
        running = make_running(
            planning,
            door=PlanDoor(lambda: counter, base.registry),
            coder=coder,
            refusals=RefusedHosts(ledger),
            boxes=sandbox,
            notifier=PlanNotices(channels.current, lambda: dashboard.page),
            closed=base.switches.why_no_steps,
            most_at_once=settings.most_plans_at_once,
            outcomes=TestedChanges(parts.changes.book),
            models=find_model(base, "work"),
        )
        executor, engine = make_executor(base, timetable, shelf, counter)
        exit_stack.callback(engine.close)
        domains = Domains(
            approvals=desk,
            tokens=shelf,
            promotions=promotions,
            adoption=goals.adoption,
            repairs=Repairs(ledger),
            idle=IdlePolicy(desires, settings.survey_hours),
            plans=planning.plans,
            exports=planning.exports,
            allowlist=planning.allowlist,
            bring_in=upstream_sync.execute,
            raises=base.raises,
        )
        every_channel = make_every_channel(base, channels, devices, push_key)
        outbox = Outbox(ledger, base.clock, every_channel, page=lambda: dashboard.page)
        alerting = make_alerting(base, deployer=deployer, troubles=lambda: background.trouble())  # noqa: PLW0108 - made below
        woken = threading.Event()
        firings = ClaimedFirings(executor, woken)
        every_lane = (
            lanes.quick_lane(ledger, base.clock, domains, base.why_held),
            make_changes_lane(base, parts.changes, deployer),
            *firings.lanes(),
            *lanes.plan_lanes(running.runner, planning.drafting, running.announcements),
            lanes.goals_lane(
                make_task_runner(
                    base,
                    goals,
                    planning=planning,
                    changes=parts.changes,
                    views=views,
                    counter=counter,
                    research=research,
                    read_signals=partial(read_ledger_signals, base),
                    coder_digest=digest.write_for_coder,
                ),
                make_model_proposals(goals, decomposer),
            ),
            lanes.research_lane(research.researcher),
            lanes.deployments_lane(deployer),
            lanes.pushes_lane(deployer),
            lanes.app_egress_lane(deployer),
            lanes.notifications_lane(outbox),
            make_witness_lane(base),
            lanes.stop_lane(
                find_due=base.stops.reach.find_due, carry_out=base.stops.reach.carry_out
            ),
            make_sync_lane(base, upstream_sync),
            make_clone_lane(base, sandbox, parts),
            lanes.alerts_lane(alerting.check, seconds=time.monotonic),
            lanes.refusals_lane(counter.record_refusals),
            make_beliefs_lane(beliefs.book),
            make_servers_lane(base, servers),
            make_traces_lane(base),
            lanes.next_index_lane(look=base.installed.look, leave=base.installed.leave),
            *make_reaping_lanes(base),
        )
        background = make_background(base, every_lane, woken, deployer)
        chat = make_chat(base, counter, digest)
        probes |= make_probes(
            base,
            sandbox=sandbox,
            counter=counter,
            chat=chat,
            executor=executor,
            deployer=deployer,
            background=background,
        )

        return Runtime(
            started_at=base.clock.now(),
            root=root,
            settings=settings,
            clock=base.clock,
            ledger=ledger,
            chain=base.chain,
            installed=base.installed,
            reserve=base.reserve,
            machines=base.machines,
            wanted_leases=base.wanted_leases,
            workers=WorkerBook(ledger=ledger, machines=base.machines),
            stops=base.stops,
            switches=base.switches,
            recognition=make_recognition(base),
            desk=desk,
            restores=base.restores,
            witness=base.witness,
            registry=base.registry,
            servers=servers,
            counter=counter,
            views=views,
            sandbox=sandbox,
            desires=desires,
            goals=goals,
            research=research,
            beliefs=beliefs,
            spend=SpendViews(book=base.spend),
            timetable=timetable,
            shelf=shelf,
            change_parts=parts,
            sync=upstream_sync,
            config_check=make_config_check(base, sandbox, parts),
            environment_store=make_environment_store(base, parts),
            planning=planning,
            running=running,
            chat=chat,
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
            smoke=smoke,
            alerting=alerting,
            receipts=make_receipts(base),
            channel_test=ChannelTest(
                ledger=ledger,
                clock=base.clock,
                channels=every_channel,
                signed_names=lambda: contract.read_configuration(ledger).notify.channels,
                page=lambda: dashboard.page,
            ),
            background=background,
            opened=exit_stack.pop_all(),
        )


def make_desires(base: Base) -> Desires:
    days = base.settings.half_life_days
    desires = Desires(ledger=base.ledger, clock=base.clock, half_life_days=days)
    if not base.ledger.holds:
        desires.settle()
    return desires


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


def make_reaping_lanes(base: Base) -> tuple[Lane, ...]:
    """Look after jobs of workers, where there can be some."""
    if not base.machines.own_id:
        return ()
    return (lanes.reaping_lane(Reaper(ledger=base.ledger, machines=base.machines)),)


def make_dashboard(settings: Settings) -> Dashboard:
    public = settings.public_url
    return Dashboard(planned=public.origin if public else f"http://localhost:{settings.port}")


def make_trunk_environment(base: Base, parts: ChangeParts) -> Callable[[], Toolchain]:
    """Give what finds the environment of the target as it is now; nothing is built for it."""

    def find_environment() -> Toolchain:
        target = base.configuration().target
        if not target.environment:
            return NO_TOOLCHAIN
        return parts.environments.find(parts.repo.head(), target).toolchain

    return find_environment


def make_agent_boxes(
    base: Base, sandbox: Sandbox, environment: Callable[[], Toolchain]
) -> AgentBoxes:
    return AgentBoxes(
        sandbox=sandbox,
        folder=base.settings.sandbox_folder,
        code_repo=base.settings.code_repo,
        persona=base.persona_space,
        may_write_code=base.switches.may_write_code,
        tools=lambda: target_tools.find_programs(base.configuration().target),
        environment=environment,
    )


def make_boxes_of_plan(
    base: Base, sandbox: Sandbox, planning: Planning, environment: Callable[[], Toolchain]
) -> Callable[[str], PlanBoxes]:
    """Give what makes the box of a plan, which is compiled anew for every run."""
    return lambda plan: PlanBoxes(
        agent_id=plan,
        sandbox=BoxesOnly(sandbox),
        contracts=planning.contracts,
        may_write_code=base.switches.may_write_code,
        tools=lambda: target_tools.find_programs(base.configuration().target),
        environment=environment,
        own_folders=base.own_folders,
        secrets=lambda: base.configuration().egress.list_for_plans(),  # noqa: PLW0108 - anew each time
    )


def make_counter(base: Base, planning: Planning, services: Services) -> Counter:
    grants = own_grants(grant_places(base.root), base.own_folders)
    around = Surroundings(
        flags=base.switches.read_states,
        stopped=base.stops.is_stopped,
        held_off=lambda: base.settings.flags_off,
        outside_grants=build_grant_check(
            grants,
            planning.contracts.find_outside,
            make_server_grants(base),
        ),
        disk_low=base.reserve.is_low,
        held=base.why_held,
        machine=base.machines.own_id,
        ceilings=lambda: base.configuration().budgets,
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
    digest: Callable[[], str],
) -> PlanCoder:
    models = find_model(base, "code")
    return PlanCoder(
        register=planning.register,
        contracts=planning.contracts,
        models=models,
        source=SourceForCoder(source=lambda: views.current.source, contracts=planning.contracts),
        agent=BoxedCodingAgent(
            command=lambda: base.configuration().coder.command,
            boxes=BoxesOnly(sandbox),
            workspaces=parts.workspaces,
            commit=parts.repo.head,
            plan_boxes=boxes_of_plan,
            offers_model=lambda: base.configuration().coder.offer_model,
            lend=models.lend,
        ),
        proposals=ProposedByTool(counter),
        proposed=ProposedChanges(
            register=planning.register, outcomes=TestedChanges(parts.changes.book)
        ),
        formats=LedgerMemory(base.ledger),
        digest=digest,
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
    jobs[JOB] = Job(
        run=bind_job(base.machines, executor.job_run),
        done=bind_job(base.machines, executor.job_done),
    )
    return executor, engine


def bind_job(machines: Machines, work: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Let the engine's own threads work under the lease that this machine has at the time."""

    def work_under_lease(*arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        term = machines.find_term(WORK_LEASE)
        fence = term.fence if term else Fence(WORK_LEASE, machines.own_id, 0)
        with work_under(fence):
            return work(*arguments, **named)

    return work_under_lease


def make_background(
    base: Base, every_lane: Sequence[Lane], woken: threading.Event, deployer: Deployer
) -> Background:
    """Make the loop; the lease of the app is wanted where it is kept up, for a fleet everywhere."""
    base.wanted_leases[APP_LEASE] = lambda: deployer.keeps_app or deployer.has_fleet()
    return Background(base.ledger, base.clock, every_lane, woken=woken, machines=base.machines)


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
        signed_channels = channels.current()
        content = signed_channels.include_content
        return EveryChannel(
            signed=signed_channels,
            devices=DeviceChannels(devices=devices, push=push, include_content=content),
        )

    return every_channel


def make_chat(base: Base, counter: Counter, digest: Digest) -> Chat:
    def flags(off: frozenset[str]) -> Mapping[str, bool]:
        return base.switches.read_states(off=off)

    def door(correlation: str, off: frozenset[str]) -> CounterForChat:
        return CounterForChat(counter=counter, flags=flags(off), correlation=correlation, off=off)

    texts = ConversationTexts(base.root.var / conversation_texts.FOLDER)
    copies = Copies(root=base.root, conversations=Conversations(base.ledger, texts))
    return Chat(
        ledger=base.ledger,
        texts=texts,
        talkers=find_model(base, "chat"),
        door=door,
        flags=flags,
        stopped=base.stops.is_stopped,
        digest=digest.write,
        kept=copies.write,
        removed=copies.remove,
    )
