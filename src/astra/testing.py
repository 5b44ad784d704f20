"""Fakes that keep the same contract suites as the adapters they stand for."""

import atexit
import inspect
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, cast

from astra import testing_queries
from astra.adapters.tool_skills import RegistrySkills
from astra.beliefs.book import Beliefs
from astra.beliefs.views import BeliefViews
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.planning import Planning, make_planning
from astra.deployments.repairs import Repairs
from astra.desires.book import Desires
from astra.desires.idle import IdlePolicy
from astra.flow import Background, Domains, lanes
from astra.goals import method_files, repair_policy
from astra.goals.adoption import Adoption
from astra.goals.book import Goals
from astra.goals.control import Control
from astra.goals.model import Goal
from astra.goals.planner import Situation
from astra.goals.promotion import Promotions
from astra.goals.service import GoalService
from astra.notifications.outbox import Message
from astra.operations.smoke import Smoke
from astra.persona.awareness import Awareness
from astra.plans.validation import Rules
from astra.schedules.admission import Admission
from astra.schedules.door import RegistryCatalogue, ScheduleDoor
from astra.schedules.executor import Executor
from astra.schedules.model import Definition, Schedule
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.spend.raising import SignedRaises
from astra.testing_plans import MemoryPlanFiles, OneModel
from astra.tools.catalogue import make_registry
from astra.tools.services import (
    Deployments,
    OtherServers,
    PersonaFiles,
    Services,
    SourceView,
)
from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Desk
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.calls.registry import AnyTool, ImportedTools, Registry
from astra.trusted.file_ledger.sqlite_index import SqliteIndex
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import chain
from astra.trusted.ledger.expectations import Expectations
from astra.trusted.ledger.projection import CORE, Projection
from astra.trusted.ledger.record import EMPTY, Event, Head, Record
from astra.trusted.ledger.timekeeping import LedgerClock, time_of_batch
from astra.trusted.ledger.verbs import LedgerVerbs
from astra.trusted.policy import authority
from astra.trusted.policy.authority import Signed
from astra.trusted.policy.call import Actor, Call, Role
from astra.trusted.policy.gate import Gate, Surroundings
from astra.trusted.policy.grants import GrantPlaces
from astra.trusted.policy.protected import protected_places
from astra.trusted.settings.configuration import Budgets
from astra.trusted.settings.flag_names import FLAGS


class SetClock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self, start: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, **step: float) -> None:
        self._now += timedelta(**step)

    def set(self, moment: datetime) -> None:
        self._now = moment


_EXPLAINED: set[str] = set()


def _is_asked_by_product(frame: FrameType | None) -> bool:
    """Tell the product's own questions from those that a test asks to look behind it."""
    caller = frame.f_back if frame else None
    return caller is not None and str(caller.f_globals.get("__name__")).startswith("astra.")


_TOUCHING = frozenset(
    {sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
)
_TABLE = re.compile(r"\s*CREATE TABLE (\w+)")


@cache
def _list_tables(definitions: tuple[str, ...]) -> frozenset[str]:
    names = map(_TABLE.match, definitions)
    return frozenset(name[1] for name in names if name)


class _IndexInMemory(SqliteIndex):
    """The index, with tables that are copied from the first one that had the same.

    To create them takes seven times as long, and most tests have a ledger of their own.
    """

    _empty: ClassVar[dict[tuple[str, ...], sqlite3.Connection]] = {}
    _folding: Projection | None = None
    _foreign_table: str = ""

    def _open_writer(self, path: Path | str) -> sqlite3.Connection:
        connection = super()._open_writer(path)
        connection.set_authorizer(self._refuse_foreign_table)
        return connection

    def _fold_chunk(self, projection: Projection, chunk: list[Record]) -> None:
        """Fold, and refuse a statement on a table of another projection."""
        self._folding = projection
        try:
            super()._fold_chunk(projection, chunk)
        except sqlite3.DatabaseError as error:
            if not self._foreign_table:
                raise
            reason = f"{projection.name} touches {self._foreign_table}, a table of another one"
            raise AssertionError(reason) from error
        finally:
            self._folding = None

    def _refuse_foreign_table(self, action: int, table: str | None, *_more: str | None) -> int:
        if self._folding is None or action not in _TOUCHING or table is None:
            return sqlite3.SQLITE_OK
        foreign = (one for one in self._projections if one is not self._folding)
        if not any(table in _list_tables(one.tables) for one in foreign):
            return sqlite3.SQLITE_OK
        self._foreign_table = table
        return sqlite3.SQLITE_DENY

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        definitions = tuple(ddl for projection in self._projections for ddl in projection.tables)
        if definitions not in self._empty:
            template = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            super()._create_tables(template)
            atexit.register(template.close)
            self._empty[definitions] = template
        self._empty[definitions].backup(connection)


class MemoryLedger(LedgerVerbs):
    """A ledger without a disk: the same chain, the same index, nothing durable.

    It closes its index when it is closed, or when nobody holds it any more.
    """

    def __init__(
        self, *, projections: Sequence[Projection] = CORE, clock: Clock | None = None
    ) -> None:
        self.lines: list[str] = []
        self._clock = clock or SetClock()
        self._index = _IndexInMemory(None, projections)
        self._close_index = weakref.finalize(self, self._index.close)
        self._head = EMPTY
        self._changed = threading.Condition()
        self._wakes = 0

    def append(
        self,
        events: Sequence[Event],
        *,
        expect: Mapping[str, int] | None = None,
        lazy: bool = False,
    ) -> list[Record]:
        if not events:
            return []
        with self._changed:
            now = time_of_batch(events, now=self._clock.now(), head=self._head)
            Expectations(self._index.query).check(events, expect or {}, lazy=lazy)
            records = chain.link(events, after=self._head, time=now)
            self._index.apply(records)
            self.lines += [record.line for record in records]
            self._head = Head(records[-1].sequence, records[-1].hash, now)
            self._changed.notify_all()
            return records

    def head(self) -> Head:
        return self._head

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Ask the index, and refuse what would take longer with every record there is."""
        if sql not in _EXPLAINED and _is_asked_by_product(inspect.currentframe()):
            if tables := testing_queries.find_scanned_tables(self._index, sql, parameters):
                raise AssertionError(f"a query reads all of {', '.join(tables)}: {sql}")
            _EXPLAINED.add(sql)
        return self._index.query(sql, parameters)

    def position(self) -> int:
        return self._head.sequence

    def wait(self, after: int, timeout: float) -> bool:
        with self._changed:
            wakes_before = self._wakes
            self._changed.wait_for(
                lambda: self._head.sequence > after or self._wakes > wakes_before, timeout
            )
            return self._head.sequence > after

    def wake(self) -> None:
        with self._changed:
            self._wakes += 1
            self._changed.notify_all()

    def close(self) -> None:
        self._close_index()


@dataclass
class RootInMemory:
    """A data root in memory: its operator's keys, and a ledger that starts as every one does."""

    clock: SetClock = field(default_factory=SetClock)
    operator: KeyPair = field(default_factory=KeyPair.generate)
    recovery: KeyPair = field(default_factory=KeyPair.generate)
    root_id: str = "root_0000000000000001"

    def __post_init__(self) -> None:
        self.ledger = MemoryLedger(projections=PROJECTIONS, clock=self.clock)
        created = {
            "root_id": self.root_id,
            "throwaway": True,
            "operator_key": self.operator.public,
            "recovery_key": self.recovery.public,
        }
        self.time = LedgerClock(self.ledger, self.clock)
        self.ledger.append([Event(type=authority.ROOT_CREATED, actor="operator", data=created)])

    def statement(self, action: str, content: dict[str, Any]) -> dict[str, Any]:
        return authority.draft(
            action, content, root_id=self.root_id, head=self.ledger.head(), now=self.clock.now()
        )

    def sign(self, action: str, content: dict[str, Any], key: KeyPair | None = None) -> Signed:
        return authority.sign(self.statement(action, content), key or self.operator)


class MemoryTokens:
    """Token files without a disk."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.lines: list[str] = []

    def read(self, schedule_id: str) -> str | None:
        return self.files.get(schedule_id)

    def write(self, schedule_id: str, text: str) -> None:
        self.files[schedule_id] = text

    def remove(self, schedule_id: str) -> None:
        self.files.pop(schedule_id, None)

    def list_pending(self) -> list[str]:
        return sorted(self.files)

    def log(self, line: str) -> None:
        self.lines.append(line)

    def read_log(self) -> str:
        return "".join(self.lines)


class MemoryChannels:
    """Channels without a network; those that are named in `dead` take nothing."""

    def __init__(self, *names: str, include_content: bool = False) -> None:
        self.names = names
        self.include_content = include_content
        self.dead: set[str] = set()
        self.taken: list[tuple[str, str]] = []
        self.messages: list[Message] = []

    def send(self, name: str, message: Message) -> bool:
        if name in self.dead:
            return False
        self.messages.append(message)
        self.taken.append((name, str(message)))
        return True


class GateInMemory:
    """A gate over a data root in memory, whose surroundings a test can set."""

    def __init__(self, root: RootInMemory | None = None) -> None:
        self.root = root or RootInMemory()
        self.ceilings = Budgets()
        self.on = {name: default for name, (default, _) in FLAGS.items()}
        self.stopped = self.disk_low = False
        self.granted: tuple[str, ...] = ()
        self.outside: Callable[[], str] = str
        self.outside_server: Callable[[Call], str] = lambda _call: "another server"
        self.desk = Desk(self.root.ledger, self.root.time)
        self.tokens = MemoryTokens()
        self.shelf = TokenShelf(self.root.ledger, self.desk, self.tokens)
        self.desk.when_spent.append(self.shelf.spent)
        self.desires = Desires(ledger=self.root.ledger, clock=self.root.time)
        self.promotions = Promotions(desires=self.desires, desk=self.desk)
        self.methods = method_files.read_built_in()
        self.facts: dict[str, str | bool] = {"code_write": True}
        self.adopt_repairs_until = ""
        self.beliefs: dict[str, float] = {}
        self.belief_book = Beliefs(ledger=self.root.ledger, clock=self.root.time)
        self.may_ask_model = False
        self.has_tool: Callable[[str], bool] = lambda _name: True
        self.goals = self._build_goals()
        around = Surroundings(
            flags=lambda: self.on,
            stopped=lambda: self.stopped,
            outside_grants=self._find_outside_path,
            disk_low=lambda: self.disk_low,
            ceilings=lambda: self.ceilings,
        )
        self.gate = Gate(self.root.ledger, self.root.time, self.desk, around)
        self.registry = make_registry()
        self.models, self.plan_files = OneModel(), MemoryPlanFiles()
        self.planning = self._build_planning()

    def steps(self) -> Background:
        """Make what runs due steps here."""
        domains = Domains(
            approvals=self.desk,
            tokens=self.shelf,
            promotions=self.promotions,
            adoption=self.goals.adoption,
            repairs=Repairs(self.root.ledger),
            idle=IdlePolicy(self.desires),
            plans=self.planning.plans,
            exports=self.planning.exports,
            allowlist=self.planning.allowlist,
            bring_in=lambda _approval: None,
            raises=SignedRaises(desk=self.desk),
        )
        lane = lanes.quick_lane(self.root.ledger, self.root.time, domains)
        return Background(self.root.ledger, self.root.time, [lane])

    def approve(self, approval_id: str, key: KeyPair | None = None) -> None:
        approval = self.desk.get(approval_id)
        signature = self.root.sign("approval_granted", desk.content(approval), key)
        self.desk.grant(approval_id, signature)
        self.shelf.export(approval_id)

    def _build_goals(self) -> GoalService:
        book = Goals(self.root.ledger)

        def situation(goal: Goal) -> Situation:
            facts = {"category": goal.category, **self.facts}
            return Situation(methods=self.methods, facts=facts, beliefs=self.beliefs)

        return GoalService(
            book=book,
            adoption=Adoption(
                goals=book,
                desk=self.desk,
                situation=situation,
                find_policy_objection=lambda goal, graph: repair_policy.find_objection(
                    self.root.ledger,
                    goal,
                    graph,
                    until=self.adopt_repairs_until,
                    now=self.root.time.now(),
                ),
                may_ask_model=lambda: self.may_ask_model,
                has_tool=lambda name: self.has_tool(name),  # noqa: PLW0108 - tests set it later
            ),
            control=Control(goals=book, desk=self.desk),
            promotions=self.promotions,
        )

    def _build_planning(self) -> Planning:
        places = GrantPlaces(
            home="/home/ada", protected=protected_places(data_root="/data", home="/home/ada")
        )
        rules = Rules(
            skills=RegistrySkills(self.registry),
            places=places,
            own_folders=("/data/persona_space", "/data/code-repo", "/data/sandbox"),
        )
        return make_planning(
            ledger=self.root.ledger,
            clock=self.root.time,
            desk=self.desk,
            skills=rules.skills,
            rules=lambda: rules,
            files=self.plan_files,
            models=self.models,
            code_repo="/data/code-repo",
            most_rounds=3,
            flag=lambda name: self.on[name],
            resolve=str,
            channel_names=lambda: ("phone",),
        )

    def _find_outside_path(self, call: Call) -> str:
        if call.server and (outside := self.outside_server(call)):
            return outside
        if call.plan_id:
            return self.planning.contracts.find_outside(call)
        if call.server:
            return ""
        paths = call.footprint.write_paths
        return next((path for path in paths if path not in self.granted), self.outside())


class NoBoxes:
    """Where no box runs, none is ended."""

    def end(self, _label: str, _why: str) -> int:
        return 0


class CounterInMemory:
    """The counter over a gate in memory, with tools of the test's own."""

    def __init__(
        self,
        *tools: AnyTool,
        gate: GateInMemory | None = None,
        seconds: Callable[[], float] = time.perf_counter,
        imported: ImportedTools | None = None,
        servers: OtherServers | None = None,
    ) -> None:
        self.gate = gate or GateInMemory()
        root = self.gate.root
        registry = Registry(tools, imported)
        catalogue = RegistryCatalogue(registry)
        self.timetable = Timetable(root.ledger, root.time, catalogue, self.gate.desk)
        services = Services(
            ledger=root.ledger,
            clock=root.time,
            approvals=self.gate.desk,
            schedules=self.timetable,
            changes=cast("Any", None),
            desires=self.gate.desires,
            promotions=self.gate.promotions,
            goals=self.gate.goals,
            awareness=Awareness(root.ledger),
            beliefs=BeliefViews(self.gate.belief_book),
            plans=self.gate.planning.plans,
            plan_views=self.gate.planning.views,
            drafting=self.gate.planning.drafting,
            research=cast("Any", None),
            source=cast("SourceView", None),
            persona=cast("PersonaFiles", None),
            persona_root="/data/persona_space",
            health=dict,
            set_flag_off=lambda _name: {},
            stop_all=lambda _keep_app: {},
            approval_link=lambda identifier: f"http://localhost/{identifier}",
            boxes=cast("Any", NoBoxes()),
            plan_boxes=lambda _plan: cast("Any", None),
            deployments=cast("Deployments", None),
            servers=cast("OtherServers", servers),
            smoke=Smoke(root.ledger, {}),
        )
        self.counter = Counter(
            registry=registry,
            gate=self.gate.gate,
            ledger=root.ledger,
            services=services,
            seconds=seconds,
        )

    def call(self, name: str, *, role: Role = Role.AGENT, **arguments: Any) -> dict[str, Any]:
        actor = Actor(role=role, name="test", door="mcp")
        return self.counter.call(Request(name=name, arguments=arguments, actor=actor))


class ScheduledInMemory(CounterInMemory):
    """Schedules over a counter in memory; firings run in the thread that finds them due."""

    def __init__(self, *tools: AnyTool, gate: GateInMemory | None = None) -> None:
        super().__init__(*tools, gate=gate)
        self.clock, self.ledger = self.gate.root.clock, self.gate.root.ledger
        self.why_closed = ""
        self.executor = self.new_executor()

    def new_executor(self) -> Executor:
        """Stand for another daemon on the same ledger."""
        return Executor(
            ledger=self.ledger,
            clock=self.gate.root.time,
            timetable=self.timetable,
            admission=Admission(
                ledger=self.ledger,
                clock=self.gate.root.time,
                catalogue=self.timetable.catalogue,
                door=ScheduleDoor(lambda: self.counter),
                approvals=self.gate.desk,
                shelf=self.gate.shelf,
            ),
            closed=lambda: self.why_closed,
        )

    def create(self, tool: str, cron: str = "* * * * *", **fields: Any) -> Schedule:
        fields = {"name": "test", "timezone": "UTC", "safety_tier": self._find_tier(tool), **fields}
        definition = Definition(cron_expression=cron, target_tool=tool, **fields)
        schedule, _ = self.timetable.create(definition, actor="agent:test")
        return schedule

    def advance(self, **step: float) -> None:
        """Let time pass, then do what is due."""
        self.clock.advance(**step)
        while self.executor.run_due():
            pass

    def history(self, schedule: Schedule) -> list[dict[str, Any]]:
        """Give the firings, oldest first."""
        items, _ = self.timetable.history(schedule_id=schedule.id, limit=10_000)
        return items[::-1]

    def _find_tier(self, tool: str) -> int:
        return self.timetable.catalogue.facts(tool).tier
