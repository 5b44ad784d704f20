"""A running Astra: every part, built once, and the one way to close them all.

`build.py` makes it. Nothing in it is made later or made anew: threads share these parts from the
first moment on. What follows the signed configuration asks for it at every use, or is swapped whole
(`views`).
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime

from astra.adapters.agent_views import CurrentViews
from astra.adapters.boxes.config_check import ConfigCheck
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.dbos_engine import DbosEngine
from astra.adapters.device_files import KeyFile
from astra.adapters.environment_store import EnvironmentStore
from astra.adapters.installed_version import InstalledVersion
from astra.adapters.servers.hosting import ServerHost
from astra.adapters.signed_channels import SignedChannels
from astra.adapters.supervisor.lending import LentListeners
from astra.adapters.witnesses.keeping import WitnessKeeping
from astra.beliefs.views import BeliefViews
from astra.bootstrap.changing import ChangeParts
from astra.bootstrap.planning import Planning, Running
from astra.changes.readiness import Readiness
from astra.changes.service import Changes
from astra.deployments.service import Deployer
from astra.desires.book import Desires
from astra.flow import Background, ClaimedFirings
from astra.goals.service import GoalService
from astra.notifications.devices import Devices
from astra.notifications.trying import ChannelTest
from astra.operations.alerting import Alerting
from astra.operations.receipts import Receipts
from astra.operations.smoke import Smoke
from astra.persona.chat import Chat
from astra.research.service import Research
from astra.schedules.executor import Executor
from astra.schedules.service import Timetable
from astra.schedules.tokens import TokenShelf
from astra.spend.views import SpendViews
from astra.trusted.approvals.desk import Desk
from astra.trusted.approvals.restores import Restores
from astra.trusted.calls.counter import Counter
from astra.trusted.calls.registry import Registry
from astra.trusted.door.recognition import Recognition
from astra.trusted.file_ledger.indexed import IndexedLedger
from astra.trusted.file_ledger.reserve import Reserve
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger.stored import StoredChain
from astra.trusted.ledger.timekeeping import LedgerClock
from astra.trusted.policy.switches import Switches
from astra.trusted.settings.environment import Settings
from astra.trusted.stop.machines import Machines
from astra.trusted.stop.stops import Stops
from astra.trusted.upstream.sync import Sync
from astra.workers.book import WorkerBook


@dataclass(kw_only=True)
class Dashboard:
    """Where the dashboard is served, once it is."""

    planned: str
    """Where `astra up` will serve it."""
    url: str | None = None
    port: int | None = None
    on_demand: bool = False
    """A command started this daemon: it leaves when nobody needs it, and to whoever runs `up`."""

    @property
    def page(self) -> str:
        return self.url or self.planned


@dataclass(frozen=True, kw_only=True)
class Runtime:
    started_at: datetime
    root: DataRoot
    settings: Settings
    clock: LedgerClock
    ledger: IndexedLedger
    chain: StoredChain
    """The same chain as it is stored, to read without the index."""
    installed: InstalledVersion
    reserve: Reserve
    machines: Machines
    """The machines that share this chain; alone on its own files."""
    wanted_leases: dict[str, Callable[[], bool]]
    """When this machine wants to lead a kind of work."""
    workers: WorkerBook
    stops: Stops
    switches: Switches
    recognition: Recognition
    desk: Desk
    restores: Restores
    witness: WitnessKeeping
    registry: Registry
    servers: ServerHost
    """Other MCP servers, reached when one of their tools is called."""
    counter: Counter
    """The one place where every door calls tools."""
    views: CurrentViews
    sandbox: Sandbox
    desires: Desires
    goals: GoalService
    research: Research
    beliefs: BeliefViews
    spend: SpendViews
    timetable: Timetable
    shelf: TokenShelf
    change_parts: ChangeParts
    sync: Sync
    planning: Planning
    running: Running
    chat: Chat
    channels: SignedChannels
    devices: Devices
    push_key: KeyFile
    dashboard: Dashboard
    listeners: LentListeners
    """The dashboard's sockets, as they are lent to whoever runs the app."""
    engine: DbosEngine
    """The engine for what takes long; it starts when it first gets something to do."""
    executor: Executor
    firings: ClaimedFirings
    deployer: Deployer
    readiness: Readiness
    config_check: ConfigCheck
    environment_store: EnvironmentStore
    smoke: Smoke
    alerting: Alerting
    receipts: Receipts
    channel_test: ChannelTest
    background: Background
    """The one loop for everything that happens without anybody's call."""
    opened: ExitStack = field(repr=False)
    """Closes what was opened, the ledger last."""

    @property
    def changes(self) -> Changes:
        return self.change_parts.changes

    def close(self) -> None:
        """Leave: every lane finishes what it does, all at the same time."""
        with self.opened:
            self.background.stop()
            self.deployer.close()
